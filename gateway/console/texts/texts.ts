// The consoles' texts in English and German: two JSON catalogues with the same keys and placeholders (texts.test.ts). A
// key that is missing in either does not compile.
import de from "./de.json" with { type: "json" };
import en from "./en.json" with { type: "json" };

/** Languages of the consoles. */
export type Language = "en" | "de";
export const languages: readonly Language[] = ["en", "de"];

export type Catalogue = typeof en;
const catalogues: Readonly<Record<Language, Catalogue>> = { en, de };

export function textsOf(language: Language): Catalogue {
  return catalogues[language];
}

/** Puts values into the `{names}` of a text. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (all, name: string) => String(values[name] ?? all));
}

/** `1 payment`, `2,000 payments`: a number with the form of the word that fits it. */
export function pluralText(
  language: Language,
  forms: { readonly one: string; readonly other: string },
  count: number | bigint,
): string {
  const isOne = new Intl.PluralRules(language).select(Number(count)) === "one";
  return fill(isOne ? forms.one : forms.other, { count: new Intl.NumberFormat(language).format(count) });
}

/** @param preferences BCP 47 tags, the strongest first */
export function languageOf(preferences: readonly string[]): Language {
  for (const preference of preferences) {
    const code = preference.split("-")[0]?.toLowerCase();
    const known = languages.find((each) => each === code);
    if (known) return known;
  }
  return "en";
}
