// Folds the notices of disputes into reports: https://docs.adyen.com/risk-management/disputes-api/dispute-notifications
import type { DisputeReport, DisputeStatus } from "../../rules/dispute.ts";
import type { Notice } from "../notice-log.ts";
import { fromAdyen } from "./amount.ts";
import { textOf } from "./attempt.ts";

/** Kinds of the connector's own notices: a defense was about to be sent, was accepted, or the dispute was conceded. */
export const disputeKinds = { sent: "defense_sent", defended: "defended", accepted: "conceded" } as const;

/** @param notices all of an intent, oldest first. @param attempts ids of its attempts */
export function foldDisputes(notices: readonly Notice[], attempts: readonly string[]): readonly DisputeReport[] {
  const about = notices.filter(({ kind }) => Object.hasOwn(statuses, kind));
  const byRef = Map.groupBy(about, ({ ref }) => ref);
  return [...byRef.values()].flatMap((group) => {
    // Some events of a dispute lack their payment; an earlier one names it.
    const original = group.map(({ originalRef }) => originalRef).find((each) => each !== "");
    const isOwn = original === undefined ? attempts.length === 1 : attempts.includes(original);
    return (isOwn && foldDispute(group)) || [];
  });
}

export function foldDispute(notices: readonly Notice[]): DisputeReport | undefined {
  const sorted = notices.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  let status: DisputeStatus | undefined;
  for (const notice of sorted) status = statusAfter(status, notice) ?? status;
  const events = sorted.filter(({ kind }) => kind === kind.toUpperCase());
  const [first] = events;
  if (!first || !status) return undefined;
  const last = (name: string) =>
    events.map(({ details }) => textOf(details, name)).findLast((text) => text !== "") ?? "";
  const dueAt = last("defensePeriodEndsAt");
  const evidence = evidenceIn(sorted);
  return {
    ref: first.ref,
    amount: fromAdyen(Number(last("amount") || 0), last("currency")),
    status,
    reason: last("reason") || last("chargebackReasonCode"),
    openedAt: first.at,
    evidenceDueAt: dueAt === "" ? undefined : new Date(dueAt),
    ...(evidence && { evidenceReference: evidence }),
  };
}

/** Our evidence, once Adyen or a webhook has acknowledged a defense after it was sent. */
function evidenceIn(sorted: readonly Notice[]): string | undefined {
  const sent = sorted.findLast(({ kind }) => kind === disputeKinds.sent);
  const isThere = sorted.some(({ kind }) => kind === disputeKinds.defended || kind === "INFORMATION_SUPPLIED");
  return sent && isThere ? textOf(sent.details, "evidence") : undefined;
}

type Outcome = "open" | "answered" | "won" | "lost" | "none";

/** The meaning of an event for a dispute that holds money; an inquiry has the matching state of its own. */
const statuses: Readonly<Record<string, Outcome>> = {
  REQUEST_FOR_INFORMATION: "open",
  NOTIFICATION_OF_CHARGEBACK: "open",
  CHARGEBACK: "open",
  INFORMATION_SUPPLIED: "answered",
  [disputeKinds.sent]: "none",
  [disputeKinds.defended]: "answered",
  [disputeKinds.accepted]: "lost",
  ISSUER_COMMENTS: "none",
  PREARBITRATION_OPEN: "none",
  PREARBITRATION_DECLINED: "none",
  CHARGEBACK_REVERSED: "won",
  PREARBITRATION_WON: "won",
  PREARBITRATION_ISSUER_WITHDRAWN: "won",
  SCHEME_ARBITRATION_WON: "won",
  ISSUER_RESPONSE_TIMEFRAME_EXPIRED: "won",
  SECOND_CHARGEBACK: "lost",
  PREARBITRATION_LOST: "lost",
  PREARBITRATION_ACCEPTED: "lost",
  SCHEME_ARBITRATION_LOST: "lost",
  DISPUTE_DEFENSE_PERIOD_ENDED: "lost",
};
// The field disputeStatus of an event.
const byField: Readonly<Record<string, Outcome>> = {
  Responded: "answered",
  Pending: "answered",
  Expired: "lost",
  Accepted: "lost",
  Lost: "lost",
  Won: "won",
};

function statusAfter(before: DisputeStatus | undefined, { kind, details }: Notice): DisputeStatus | undefined {
  const field = textOf(details, "disputeStatus");
  const outcome = (statuses[kind] === "open" ? byField[field] : undefined) ?? statuses[kind] ?? "none";
  if (outcome === "none") return undefined;
  const isInquiry = kind === "REQUEST_FOR_INFORMATION" || (kind !== "CHARGEBACK" && before?.startsWith("warning_"));
  if (isInquiry && kind !== "NOTIFICATION_OF_CHARGEBACK") return inquiry[outcome];
  return held[outcome];
}

const inquiry = {
  open: "warning_needs_response",
  answered: "warning_under_review",
  won: "warning_closed",
  lost: "warning_closed",
} as const satisfies Record<Exclude<Outcome, "none">, DisputeStatus>;
const held = {
  open: "needs_response",
  answered: "under_review",
  won: "won",
  lost: "lost",
} as const satisfies Record<Exclude<Outcome, "none">, DisputeStatus>;
