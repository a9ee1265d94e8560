// Folds an intent's notices into a report: what Adyen answered and what its webhooks report, in any order. Pure.
import type { IntentFact } from "../../rules/payment.ts";
import type { IntentReport, RefundReport } from "../connector.ts";
import type { Notice } from "../notice-log.ts";
import { fromAdyen } from "./amount.ts";
import { attemptOf, textOf } from "./attempt.ts";
import { foldDisputes } from "./dispute.ts";

/** Kinds of the notices that the connector makes of Adyen's answers; Adyen's own event codes are upper case. */
export const answerKinds = {
  link: "link",
  session: "session",
  order: "order",
  capture: "capture",
  refund: "refund",
  cancel: "cancel",
} as const;
const pageKinds: ReadonlySet<string> = new Set([answerKinds.link, answerKinds.session]);

// Adyen gives up an authorization after 28 days; schemes may do so before.
const captureDays = 28;
const dayMs = 86_400_000;

/** The page under a reference; undefined: its answer is not stored. */
export function pageOf(notices: readonly Notice[]): Notice | undefined {
  return notices.find(({ kind }) => pageKinds.has(kind));
}

/** The AUTHORISATION of each attempt, in the order in which they were first stored; of repeats the latest decides. */
function attemptsOf(notices: readonly Notice[]): readonly Notice[] {
  const byRef = new Map<string, Notice>();
  for (const notice of notices) {
    if (notice.kind !== "AUTHORISATION") continue;
    const known = byRef.get(notice.ref);
    if (!known || known.at <= notice.at) byRef.set(notice.ref, notice);
  }
  return [...byRef.values()];
}

const isSuccess = ({ details }: Notice) => details.success === true;

/**
 * The intent of an attempt: its page, for all but a second payment there. That one, and an attempt without a page, is
 * an intent of its own.
 */
export function intentRefOf(notices: readonly Notice[], attemptRef: string): string {
  const page = pageOf(notices);
  if (!page) return attemptRef;
  const paid = attemptsOf(notices).filter(isSuccess);
  return paid.slice(1).some(({ ref }) => ref === attemptRef) ? attemptRef : page.ref;
}

/** The payment's attempt that paid the intent; undefined: none. */
export function paidRef(notices: readonly Notice[], ref: string): string | undefined {
  return ownAttempts(notices, ref).find(isSuccess)?.ref;
}

function ownAttempts(notices: readonly Notice[], ref: string): readonly Notice[] {
  return attemptsOf(notices).filter((attempt) => intentRefOf(notices, attempt.ref) === ref);
}

/**
 * @param notices all under the intent's reference, oldest first
 * @param pageEndedAt of a page on which no payment is possible any more
 * @returns undefined: Adyen has not reported the intent
 */
export function foldIntent(ref: string, notices: readonly Notice[], pageEndedAt?: Date): IntentReport | undefined {
  const attempts = ownAttempts(notices, ref).toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const page = pageOf(notices);
  const source = page?.ref === ref ? page : (attempts.find(isSuccess) ?? attempts[0]);
  if (!source) return undefined;
  const isManual = notices.some(({ details }) => details.manual === true);
  const currency = textOf(source.details, "currency");
  const isOwn = (id: string) => attempts.some((attempt) => attempt.ref === id);
  // The end of an authorization names the payment itself.
  const changes = notices.filter(({ kind, ref: own, originalRef }) => isOwn(kind === "EXPIRE" ? own : originalRef));
  const facts = attempts.flatMap((attempt) =>
    isSuccess(attempt) ? paidFacts(attempt, changes, isManual) : [failedFact(attempt)],
  );
  const { reference, renewal } = readReference(source.reference);
  const isHeld = facts.some(({ kind }) => kind === "attempt_succeeded");
  return {
    ref,
    reference,
    amount: fromAdyen(Number(source.details.amount), currency),
    currency,
    captureMethod: isManual ? "manual" : "automatic",
    ...(renewal > 0 && { renewal }),
    facts,
    refunds: foldRefunds(changes),
    disputes: foldDisputes(
      notices,
      attempts.map((attempt) => attempt.ref),
    ),
    ...(pageEndedAt && !isHeld && { pageEndedAt }),
  };
}

function failedFact(attempt: Notice): IntentFact {
  const reason = textOf(attempt.details, "reason");
  return { kind: "attempt_failed", attempt: attemptOf(attempt), code: reason, message: reason, at: attempt.at };
}

/** A paid attempt, its capture and its end. A capture that fails later is the failure of its attempt. */
function paidFacts(notice: Notice, changes: readonly Notice[], isManual: boolean): readonly IntentFact[] {
  const attempt = attemptOf(notice);
  const authorized = { amount: amountOf(notice.details), at: notice.at };
  const captures = isManual ? capturesOf(changes.filter((each) => !isRecapture(each))) : [authorized];
  const failed = changes.filter(({ kind }) => kind === "CAPTURE_FAILED").at(-1);
  const again = failed ? capturesOf(changes.filter((each) => isRecapture(each) && each.at > failed.at)) : [];
  const authorizedAt = notice.at;
  const authorizationCode = textOf(notice.details, "authCode");
  const base = { authorizedAt, authorizationCode, receiptUrl: "" } as const;
  const captureBefore = new Date(authorizedAt.getTime() + captureDays * dayMs);
  const captured = (ref: string, some: readonly Capture[]): IntentFact => ({
    ...{ ...base, kind: "attempt_succeeded", attempt: { ...attempt, ref } },
    capturedAmount: some.reduce((sum, { amount }) => sum + amount, 0n),
    capturedAt: some.at(-1)?.at,
    ...(some.length === 0 && { captureBefore }),
  });
  const facts: IntentFact[] = [captured(attempt.ref, captures)];
  if (failed) {
    const reason = textOf(failed.details, "reason");
    facts.push({ kind: "attempt_failed", attempt, code: "Capture Failed", message: reason, at: failed.at });
  }
  if (again.length > 0) facts.push(captured(`${attempt.ref}/2`, again));
  const end = captures.length === 0 ? changes.find(isEnd) : undefined;
  if (end) facts.push({ kind: "intent_canceled", at: end.at, ...(end.kind === "EXPIRE" && { isExpired: true }) });
  return facts;
}

interface Capture {
  readonly amount: bigint;
  readonly at: Date;
}

/** Captures that succeeded. Adyen reports those that were ordered: an automatic one is the authorization. */
function capturesOf(changes: readonly Notice[]): readonly Capture[] {
  const made = lastOfEach(changes.filter(({ kind }) => kind === "CAPTURE")).filter(isSuccess);
  return made.map(({ details, at }) => ({ amount: amountOf(details), at }));
}

/** Adyen captures again what failed for a technical reason. Only the reason shows it: repeats have later times. */
function isRecapture({ kind, details }: Notice): boolean {
  return kind === "CAPTURE" && /recaptured/i.test(textOf(details, "reason"));
}

function isEnd(notice: Notice): boolean {
  const { kind, details } = notice;
  if (kind === "EXPIRE") return true;
  if (kind === "CANCEL_OR_REFUND") return isSuccess(notice) && details["modification.action"] === "cancel";
  return (kind === "CANCELLATION" || kind === "TECHNICAL_CANCEL") && isSuccess(notice);
}

const refundKinds: ReadonlySet<string> = new Set([answerKinds.refund, "REFUND", "REFUND_FAILED", "REFUNDED_REVERSED"]);
const refundFailures: ReadonlySet<string> = new Set(["REFUND_FAILED", "REFUNDED_REVERSED"]);

/** A refund is pending until its webhook arrives, and can fail after that. */
export function foldRefunds(changes: readonly Notice[]): readonly RefundReport[] {
  const byRef = Map.groupBy(changes.filter(isRefund), ({ ref }) => ref);
  return [...byRef].map(([ref, notices]) => {
    const outcome = notices.findLast(({ kind }) => kind !== answerKinds.refund);
    const failure = notices.find((each) => refundFailures.has(each.kind) || isRefusal(each));
    const first = notices[0] as Notice;
    const reference = notices.map((each) => each.reference).find((each) => each !== "") ?? "";
    const reason = failure ? textOf(failure.details, "reason") : "";
    return {
      ref,
      // The merchant's own refunds at Adyen carry the payment's reference.
      reference: reference.startsWith("pay_") ? "" : reference,
      amount: amountOf(first.details),
      status: failure ? "failed" : outcome ? "succeeded" : "pending",
      reason: "",
      failureCode: failure ? "refund_failed" : "",
      failureMessage: reason,
      createdAt: new Date(Math.min(...notices.map(({ at }) => at.getTime()))),
    };
  });
}

function isRefund({ kind, details }: Notice): boolean {
  return refundKinds.has(kind) || (kind === "CANCEL_OR_REFUND" && details["modification.action"] === "refund");
}

function isRefusal(notice: Notice): boolean {
  return notice.kind !== answerKinds.refund && !isSuccess(notice);
}

/** Of repeats the latest decides. */
function lastOfEach(notices: readonly Notice[]): readonly Notice[] {
  return [
    ...new Map(notices.toSorted((a, b) => a.at.getTime() - b.at.getTime()).map((each) => [each.ref, each])).values(),
  ];
}

/** Minor units of ISO 4217. */
function amountOf(details: Notice["details"]): bigint {
  return fromAdyen(Number(details.amount ?? 0), textOf(details, "currency"));
}

/** Our payment id and the number of its earlier pages, as Adyen's merchant reference. */
export function writeReference(reference: string, renewal: number | undefined): string {
  return renewal ? `${reference}/${renewal}` : reference;
}

function readReference(written: string): { readonly reference: string; readonly renewal: number } {
  const [reference = "", renewal = "0"] = written.split("/");
  return { reference, renewal: Number(renewal) || 0 };
}
