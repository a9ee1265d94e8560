// Kinds of rules and the stages of decisions, between the protos and people.
import { RiskKind } from "#proto/checkout/v1/risk_pb.ts";
import { type Language, textsOf } from "../../../texts/texts.ts";
import { count, money } from "../../../view/values.ts";

export const riskKinds = [
  { name: "amount_cap", kind: RiskKind.AMOUNT_CAP },
  { name: "velocity", kind: RiskKind.VELOCITY },
  { name: "block_list", kind: RiskKind.BLOCK_LIST },
  { name: "card_testing", kind: RiskKind.CARD_TESTING },
] as const;

export function formatKind(language: Language, kind: RiskKind): string {
  const name = riskKinds.find((each) => each.kind === kind)?.name;
  return name === undefined ? "" : textsOf(language).riskKinds[name];
}

/** A limit, or what was measured: money of a cap's currency, else a number of events. */
export function formatQuantity(language: Language, kind: RiskKind, subject: string, value: bigint): string {
  return kind === RiskKind.AMOUNT_CAP ? money(language, value, subject) : count(language, value);
}

/** One that this release does not know is shown by its own name. */
export function formatStage(language: Language, stage: string): string {
  const name = (["create", "open", "attempt"] as const).find((each) => each === stage);
  return name === undefined ? stage : textsOf(language).riskKinds[name];
}

/** `mer_…` or `*`, as the RPCs take it; anything else is `*`. */
export function ownerOf(text: string): string {
  return /^mer_[0-9a-hjkmnp-tv-z]{26}$/.test(text) ? text : "*";
}
