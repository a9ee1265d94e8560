// The consoles' texts stand in English and German side by side: one that is missing in either does not compile.

/** Languages of the consoles. */
export type Language = "en" | "de";
export const languages: readonly Language[] = ["en", "de"];

type Text = string | ((...values: never[]) => string);
type Translated<T> = { readonly [K in keyof T]: T[K] extends string ? string : T[K] };

/** The same texts in both languages. */
export function both<T extends Readonly<Record<string, Text>>>(
  en: T,
  de: Translated<T>,
): Readonly<Record<Language, Translated<T>>> {
  return { en: en as Translated<T>, de };
}

/** `1 payment`, `2 payments`: a number as it is written, with the word that fits it. */
export function counted(one: string, many: string): (count: string) => string {
  return (count) => `${count} ${count === "1" ? one : many}`;
}

/** @param wishes BCP 47 tags, the strongest first */
export function languageOf(wishes: readonly string[]): Language {
  for (const wish of wishes) {
    const word = wish.split("-")[0]?.toLowerCase();
    const known = languages.find((each) => each === word);
    if (known) return known;
  }
  return "en";
}
