// The buyer's languages: the page's texts and the SDK's errors, and the choice of one: what the address asks for, then
// what the merchant chose for the session, then what the browser prefers, then English.
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

/** Every text of the hosted page. `{…}` stands for a value that the page puts in; each language has the same ones. */
export type PageTexts = typeof en;

/** By primary language subtag. */
export const languages: ReadonlyMap<string, PageTexts> = new Map(
  Object.entries({ en, ar, de, es, fr, it, ja, nl, pl, pt }),
);

/** By error code; `title` is the accessible name of the fields. */
type ErrorTexts = Readonly<Record<ErrorCode | "unconfirmed" | "title", string>>;

/** The SDK's errors by language. English is in the SDK itself; the build writes each other one as a file beside it. */
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
  /** BCP 47, for Intl: with the region that was asked for. */
  readonly tag: string;
  readonly direction: "ltr" | "rtl";
  readonly texts: PageTexts;
}

const rightToLeft = new Set(["ar"]);

/** @param preferences BCP 47 tags, the strongest first; unknown and malformed ones are passed over */
export function chooseLanguage(preferences: readonly string[]): ChosenLanguage {
  for (const preference of [...preferences, "en"]) {
    const language = preference.split("-")[0]?.toLowerCase() ?? "";
    const texts = languages.get(language);
    const tag = texts && canonical(preference);
    if (texts && tag) return { tag, texts, direction: rightToLeft.has(language) ? "rtl" : "ltr" };
  }
  throw new Error("there is no English");
}

/** The languages of an Accept-Language header, the most wanted first (RFC 9110 §12.5.4). At most ten are read. */
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
