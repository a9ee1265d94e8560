// The consoles' texts in English and German, by area. A key that one language lacks does not compile.
import de from "./de.json" with { type: "json" };
import en from "./en.json" with { type: "json" };

export type Language = "en" | "de";
export const languages: readonly Language[] = ["en", "de"];

type Areas = typeof en;
/** Each area has its own texts, and the words that areas share. */
export type Catalogue = { readonly [A in keyof Areas]: Omit<Areas["words"], keyof Areas[A]> & Areas[A] };
const areas: Readonly<Record<Language, Areas>> = { en, de };
const catalogues: Readonly<Record<Language, Catalogue>> = { en: withWords(en), de: withWords(de) };

export function textsOf(language: Language): Catalogue {
  return catalogues[language];
}

/** Areas without the shared words, for those that name codes. */
export function ownTextsOf(language: Language): Areas {
  return areas[language];
}

function withWords(own: Areas): Catalogue {
  const all = Object.entries(own).map(([area, texts]) => [area, { ...own.words, ...texts }] as const);
  return Object.fromEntries(all) as unknown as Catalogue;
}

export function fillText(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (all, name: string) => String(values[name] ?? all));
}

/** For example `1 payment` or `2,000 payments`. */
export function pluralText(
  language: Language,
  forms: { readonly one: string; readonly other: string },
  count: number | bigint,
): string {
  const isOne = new Intl.PluralRules(language).select(Number(count)) === "one";
  return fillText(isOne ? forms.one : forms.other, { count: new Intl.NumberFormat(language).format(count) });
}

/** @param preferences BCP 47 tags, most preferred first */
export function languageOf(preferences: readonly string[]): Language {
  for (const preference of preferences) {
    const code = preference.split("-")[0]?.toLowerCase();
    const known = languages.find((each) => each === code);
    if (known) return known;
  }
  return "en";
}
