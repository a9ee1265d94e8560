// Names of risk rule kinds and decision stages.
import { isId } from "#platform/values/id.ts";
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

/** A limit or a measurement: money for an amount cap, else a number of events. */
export function formatQuantity(language: Language, kind: RiskKind, subject: string, value: bigint): string {
  return kind === RiskKind.AMOUNT_CAP ? money(language, value, subject) : count(language, value);
}

/** A stage that this release does not know is shown unchanged. */
export function formatStage(language: Language, stage: string): string {
  const name = (["create", "open", "attempt"] as const).find((each) => each === stage);
  return name === undefined ? stage : textsOf(language).riskKinds[name];
}

/** `mer_…` or `*` for the RPCs; any other text becomes `*`. */
export function ownerOf(text: string): string {
  return isId("merchant", text) ? text : "*";
}
