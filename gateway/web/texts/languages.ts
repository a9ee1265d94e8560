// The page's languages and the choice of one: what the address asks for, then what the merchant chose for the session,
// then what the browser prefers, then English.
import { ar } from "./ar.ts";
import { de } from "./de.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { it } from "./it.ts";
import { ja } from "./ja.ts";
import { nl } from "./nl.ts";
import type { PageTexts } from "./page-texts.ts";
import { pl } from "./pl.ts";
import { pt } from "./pt.ts";

/** By primary language subtag. */
export const languages: ReadonlyMap<string, PageTexts> = new Map(
  Object.entries({ en, ar, de, es, fr, it, ja, nl, pl, pt }),
);

export interface ChosenLanguage {
  /** BCP 47, for Intl: with the region that was asked for. */
  readonly tag: string;
  readonly direction: "ltr" | "rtl";
  readonly texts: PageTexts;
}

const rightToLeft = new Set(["ar"]);

/** @param wishes BCP 47 tags, the strongest first; unknown and malformed ones are passed over */
export function chooseLanguage(wishes: readonly string[]): ChosenLanguage {
  for (const wish of [...wishes, "en"]) {
    const language = wish.split("-")[0]?.toLowerCase() ?? "";
    const texts = languages.get(language);
    const tag = texts && canonical(wish);
    if (texts && tag) return { tag, texts, direction: rightToLeft.has(language) ? "rtl" : "ltr" };
  }
  throw new Error("there is no English");
}

/** The languages of an Accept-Language header, the most wanted first (RFC 9110 §12.5.4). At most ten are read. */
export function acceptedLanguages(header: string | undefined): string[] {
  const wishes = (header ?? "")
    .slice(0, 400)
    .split(",")
    .slice(0, 10)
    .map((part) => {
      const [tag = "", ...parameters] = part.trim().split(/\s*;\s*/);
      const q = Number(parameters.find((one) => one.startsWith("q="))?.slice(2) ?? 1);
      return { tag, q: Math.max(q, 0) };
    });
  return wishes
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
