// Codes of the services in words, and the tone in which a state is shown. A code that this release does not know is
// shown as it is.
import { cardNetworks } from "#platform/values/money.ts";
import { type Catalogue, type Language, textsOf } from "./texts.ts";

/** Areas of the catalogue that name codes of the services. */
type CodeArea = {
  [A in keyof Catalogue]: Catalogue[A] extends Readonly<Record<string, string>> ? A : never;
}[keyof Catalogue];

export function translateCode(language: Language, area: CodeArea, code: string): string {
  const words: Readonly<Record<string, string>> = textsOf(language)[area];
  return Object.hasOwn(words, code) ? (words[code] ?? code) : code;
}

export type Tone = "good" | "bad" | "wait" | "quiet";

const tones = {
  paymentStates: {
    succeeded: "good",
    failed: "bad",
    disputed: "bad",
    processing: "wait",
    pending: "wait",
    requires_action: "wait",
  },
  moneyStates: {
    pending: "wait",
    succeeded: "good",
    failed: "bad",
    warning_needs_response: "wait",
    needs_response: "bad",
    under_review: "wait",
    warning_under_review: "wait",
    won: "good",
    lost: "bad",
    open: "wait",
    processing: "wait",
    completed: "good",
  },
  merchantStates: { active: "good", approved: "good", suspended: "bad", rejected: "bad", submitted: "wait" },
} as const satisfies Readonly<Partial<Record<CodeArea, Readonly<Record<string, Tone>>>>>;

/** A state in words, with the tone in which it is shown. `moneyStates`: of refunds, disputes and checkout sessions. */
export function stateOf(
  language: Language,
  area: keyof typeof tones,
  code: string,
): { readonly text: string; readonly tone: Tone } {
  const known: Readonly<Record<string, Tone>> = tones[area];
  return { text: translateCode(language, area, code), tone: (Object.hasOwn(known, code) && known[code]) || "quiet" };
}

/** Every code of the area, in its order. */
export function codesOf(area: CodeArea): readonly string[] {
  return Object.keys(textsOf("en")[area]);
}

/** As `Visa ····4242`; empty: no card is known. */
export function cardText(card: { readonly brand: string; readonly last4: string } | undefined): string {
  return card && card.last4 !== "" ? `${cardNetworks.get(card.brand) ?? card.brand} ····${card.last4}` : "";
}
