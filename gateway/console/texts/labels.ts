// Names of the services' codes, with the tone of a state. A code that this release does not know is shown unchanged.
import { cardNetworks, methodName } from "#platform/values/money.ts";
import type { PaymentMethod } from "#proto/payments/v1/payments_pb.ts";
import { type Language, ownTextsOf } from "./texts.ts";

/** Areas of the catalogue that name codes. */
type Areas = ReturnType<typeof ownTextsOf>;
type CodeArea = { [A in keyof Areas]: Areas[A] extends Readonly<Record<string, string>> ? A : never }[keyof Areas];

export function translateCode(language: Language, area: CodeArea, code: string): string {
  const names: Readonly<Record<string, string>> = ownTextsOf(language)[area];
  return Object.hasOwn(names, code) ? (names[code] ?? code) : code;
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
    active: "good",
    busy: "wait",
  },
  payoutStates: { pending: "wait", in_transit: "wait", paid: "good", failed: "bad", returned: "bad" },
  erasureStates: { running: "wait", finished: "good" },
  reportStates: { queued: "wait", running: "wait", ready: "good", failed: "bad" },
  merchantStates: { active: "good", approved: "good", suspended: "bad", rejected: "bad", submitted: "wait" },
} as const satisfies Readonly<Partial<Record<CodeArea, Readonly<Record<string, Tone>>>>>;
type StateArea = keyof typeof tones;

/** @param area `moneyStates`: refunds, disputes, checkout sessions and payment links */
export function stateOf(
  language: Language,
  area: StateArea,
  code: string,
): { readonly text: string; readonly tone: Tone } {
  const known: Readonly<Record<string, Tone>> = tones[area];
  return { text: translateCode(language, area, code), tone: (Object.hasOwn(known, code) && known[code]) || "quiet" };
}

/** Choices of a filter by code, after the choice of any. */
export function codeChoices(language: Language, area: CodeArea, codes: readonly string[], any: string) {
  return [{ value: "", label: any }, ...codes.map((value) => ({ value, label: translateCode(language, area, value) }))];
}

export function codesOf(area: CodeArea): readonly string[] {
  return Object.keys(ownTextsOf("en")[area]);
}

interface PaidWith {
  readonly method?: PaymentMethod | undefined;
  readonly card?: { readonly brand: string; readonly last4: string } | undefined;
}

/** For example `Apple Pay, Visa ····4242` or `SEPA Direct Debit ····3000 (DE)`; empty if nothing is known. */
export function methodText({ method, card }: PaidWith): string {
  if (!method || (method.type === "card" && card)) {
    return [method?.wallet && methodName(method.wallet), cardText(card)].filter(Boolean).join(", ");
  }
  const { type, bankLast4, bankCountry } = method;
  return `${methodName(type)}${bankLast4 && ` ····${bankLast4}`}${bankCountry && ` (${bankCountry})`}`;
}

/** For example `Visa ····4242`; empty if no card is known. */
export function cardText(card: { readonly brand: string; readonly last4: string } | undefined): string {
  return card && card.last4 !== "" ? `${cardNetworks.get(card.brand) ?? card.brand} ····${card.last4}` : "";
}
