// Texts of the page and the SDK by language, and the choice of a language: the URL's, then the session's, then the
// browser's, then English.
import type { ErrorCode } from "./sdk/error-code.ts";
import ar from "./texts/ar.json" with { type: "json" };
import de from "./texts/de.json" with { type: "json" };
import en from "./texts/en.json" with { type: "json" };
import arErrors from "./texts/errors/ar.json" with { type: "json" };
import deErrors from "./texts/errors/de.json" with { type: "json" };
import esErrors from "./texts/errors/es.json" with { type: "json" };
import frErrors from "./texts/errors/fr.json" with { type: "json" };
import itErrors from "./texts/errors/it.json" with { type: "json" };
import jaErrors from "./texts/errors/ja.json" with { type: "json" };
import nlErrors from "./texts/errors/nl.json" with { type: "json" };
import plErrors from "./texts/errors/pl.json" with { type: "json" };
import ptErrors from "./texts/errors/pt.json" with { type: "json" };
import es from "./texts/es.json" with { type: "json" };
import fr from "./texts/fr.json" with { type: "json" };
import it from "./texts/it.json" with { type: "json" };
import ja from "./texts/ja.json" with { type: "json" };
import nl from "./texts/nl.json" with { type: "json" };
import pl from "./texts/pl.json" with { type: "json" };
import pt from "./texts/pt.json" with { type: "json" };

/** Texts of the hosted page. `{…}` is a placeholder; every language has the same ones. */
export type PageTexts = typeof en;

/** By primary language subtag. */
export const languages: ReadonlyMap<string, PageTexts> = new Map(
  Object.entries({ en, ar, de, es, fr, it, ja, nl, pl, pt }),
);

/** By error code; `title` is the accessible name of the fields. */
type ErrorTexts = Readonly<Record<ErrorCode | "unconfirmed" | "title", string>>;

/** The SDK's errors by language. The SDK contains English; the build writes the others as separate files. */
export const errorTexts: Readonly<Record<string, ErrorTexts>> = {
  ar: arErrors,
  de: deErrors,
  es: esErrors,
  fr: frErrors,
  it: itErrors,
  ja: jaErrors,
  nl: nlErrors,
  pl: plErrors,
  pt: ptErrors,
};

export interface ChosenLanguage {
  /** BCP 47 with the requested region, for Intl. */
  readonly tag: string;
  readonly direction: "ltr" | "rtl";
  readonly texts: PageTexts;
}

const rightToLeft = new Set(["ar"]);

/** @param preferences BCP 47 tags, strongest first; unknown and malformed ones are skipped */
export function chooseLanguage(preferences: readonly string[]): ChosenLanguage {
  for (const preference of [...preferences, "en"]) {
    const language = preference.split("-")[0]?.toLowerCase() ?? "";
    const texts = languages.get(language);
    const tag = texts && canonical(preference);
    if (texts && tag) return { tag, texts, direction: rightToLeft.has(language) ? "rtl" : "ltr" };
  }
  throw new Error("English is missing");
}

/** Languages of an Accept-Language header by preference (RFC 9110 §12.5.4), at most ten. */
export function acceptedLanguages(header: string | undefined): string[] {
  const preferences = (header ?? "")
    .slice(0, 400)
    .split(",")
    .slice(0, 10)
    .map((item) => {
      const [tag = "", ...parameters] = item.trim().split(/\s*;\s*/);
      const q = Number(parameters.find((one) => one.startsWith("q="))?.slice(2) ?? 1);
      return { tag, q: Math.max(q, 0) };
    });
  return preferences
    .filter(({ tag, q }) => tag !== "" && q > 0)
    .sort((a, b) => b.q - a.q)
    .map(({ tag }) => tag);
}

function canonical(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}
