// The languages of the pages. The payment's or URL's language is chosen first, then the browser's, then English.
import ar from "./ar.json" with { type: "json" };
import de from "./de.json" with { type: "json" };
import en from "./en.json" with { type: "json" };
import es from "./es.json" with { type: "json" };
import fr from "./fr.json" with { type: "json" };
import it from "./it.json" with { type: "json" };
import ja from "./ja.json" with { type: "json" };
import nl from "./nl.json" with { type: "json" };
import pl from "./pl.json" with { type: "json" };
import pt from "./pt.json" with { type: "json" };

/** Texts of the pages. `{…}` is a value, the same ones in each language. Names of test cards stay English. */
export type FormTexts = Readonly<typeof en>;

/** By primary language subtag. */
export const languages: ReadonlyMap<string, FormTexts> = new Map(
  Object.entries({ en, ar, de, es, fr, it, ja, nl, pl, pt }),
);

export interface Language {
  readonly code: string;
  /** For Intl, with the requested region. */
  readonly tag: string;
  readonly direction: "ltr" | "rtl";
  readonly texts: FormTexts;
}

/** The canonical tag; null: not supported. */
export function localeOf(preference: unknown): string | null {
  const tag = canonical(preference);
  return tag && languages.has(tag.split("-")[0] ?? "") ? tag : null;
}

const preferencesMax = 10;
const headerMax = 400; // characters of Accept-Language that are read

/** @param preferences BCP 47 tags, strongest first; invalid and unsupported ones are skipped */
export function chooseLanguage(preferences: readonly unknown[], acceptLanguage = ""): Language {
  for (const preference of [...preferences, ...accepted(acceptLanguage), "en"]) {
    const tag = canonical(preference);
    const code = tag?.split("-")[0] ?? "";
    const texts = languages.get(code);
    if (tag && texts) return { code, tag, direction: code === "ar" ? "rtl" : "ltr", texts };
  }
  throw new Error("English is missing");
}

export function fillText(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all);
}

function accepted(header: string): string[] {
  const weighed = header
    .slice(0, headerMax)
    .split(",", preferencesMax)
    .map((entry) => {
      const [tag = "", weight = "1"] = entry.trim().split(/\s*;\s*q=/);
      return { tag, weight: Number(weight) };
    });
  return weighed
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}

function canonical(preference: unknown): string | undefined {
  try {
    return typeof preference === "string" && preference.length <= 35
      ? Intl.getCanonicalLocales(preference)[0]
      : undefined;
  } catch {
    return undefined;
  }
}
