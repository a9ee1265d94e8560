// Captures, cancellations and refunds. Adyen answers each with `received`; a webhook decides it. Adyen also receives
// what it must refuse, so the stored notices judge an order before it is sent.

import Type from "typebox";
import { Compile } from "typebox/compile";
import { declinedAnswer } from "../answer.ts";
import {
  type Connector,
  isKnown,
  type ProcessorAccount,
  type ProcessorAnswer,
  type RefundReport,
} from "../connector.ts";
import type { Notice } from "../notice-log.ts";
import { fromAdyen, toAdyen } from "./amount.ts";
import { textOf } from "./attempt.ts";
import { type AdyenClient, commandAnswer } from "./client.ts";
import { answerKinds, foldIntent, foldRefunds, paidRef } from "./intent.ts";
import type { AnswerLog, AnswerNotice } from "./notices.ts";

const Received = Compile(Type.Object({ pspReference: Type.String({ minLength: 1 }), status: Type.String() }));

/** Releases an authorization. @param notices about the intent. @param paid id of the authorized payment */
export type Release = (
  account: ProcessorAccount,
  notices: readonly Notice[],
  paid: string,
) => Promise<ProcessorAnswer<"released">>;

type ModificationCalls = Pick<Connector, "captureIntent" | "createRefund" | "findRefund"> & {
  readonly release: Release;
};

export function adyenModifications(client: AdyenClient, log: AnswerLog): ModificationCalls {
  const send = async (account: ProcessorAccount, order: Modification, key: string) => {
    const { path, kind, originalRef, reference, amount } = order;
    const json = { merchantAccount: account.externalAccountId, reference, ...(amount && { amount }) };
    const call = { method: "POST", path: `/payments/${encodeURIComponent(originalRef)}/${path}`, json, key } as const;
    const details = amount ? { amount: amount.value, currency: amount.currency } : {};
    return commandAnswer(await client.call(account.environment, account.credentials, call), (body): AnswerNotice => {
      if (!Received.Check(body)) throw new Error("not a modification of Adyen");
      return { kind, ref: body.pspReference, originalRef, reference, details };
    });
  };
  const once = (account: ProcessorAccount, order: Modification, key: string) =>
    log.answerOnce(account, key, () => send(account, order, key));
  return {
    captureIntent: async (account, { intentRef, amount, currency }, key) => {
      const value = toAdyen(amount, currency);
      if (typeof value !== "number") return declinedAnswer("amount_not_accepted", `the amount ${value.refused}`);
      const before = await log.about(account, intentRef);
      const paid = paidRef(before, intentRef);
      const refusal = (await log.isAnswered(account, key)) ? undefined : captureRefusal(before, intentRef, amount);
      if (refusal || paid === undefined) return refusal ?? declinedAnswer("not_capturable", "it is not authorized");
      const reference = before.find(({ ref }) => ref === paid)?.reference ?? "";
      const order = { path: "captures", kind: answerKinds.capture, originalRef: paid, reference } as const;
      const answer = await once(account, { ...order, amount: { currency, value } }, key);
      if (!isKnown(answer)) return answer;
      const after = await log.about(account, intentRef);
      const report = foldIntent(intentRef, after);
      if (!report) return { kind: "unknown", cause: new Error("the intent has no notices") };
      const outcome = outcomeOf(after, answer.value.ref, "CAPTURE");
      if (!outcome) return { kind: "pending", value: report };
      if (outcome.details.success === true) return { kind: "succeeded", value: report };
      return declinedAnswer("not_capturable", textOf(outcome.details, "reason") || "Adyen refused the capture");
    },
    createRefund: async (account, { intentRef, reference, amount, currency }, key) => {
      const value = toAdyen(amount, currency);
      if (typeof value !== "number") return declinedAnswer("amount_not_accepted", `the amount ${value.refused}`);
      const before = await log.about(account, intentRef);
      const paid = paidRef(before, intentRef);
      const refusal = (await log.isAnswered(account, key)) ? undefined : refundRefusal(before, intentRef, amount);
      if (refusal || paid === undefined) return refusal ?? declinedAnswer("not_refundable", "it is not paid");
      const order = { path: "refunds", kind: answerKinds.refund, originalRef: paid, reference } as const;
      const answer = await once(account, { ...order, amount: { currency, value } }, key);
      if (!isKnown(answer)) return answer;
      return refundAnswer(await log.about(account, intentRef), (refund) => refund.ref === answer.value.ref);
    },
    findRefund: async (account, { intentRef, reference }) =>
      refundAnswer(await log.about(account, intentRef), (refund) => refund.reference === reference),
    release: async (account, notices, paid) => {
      const reference = notices.find(({ ref }) => ref === paid)?.reference ?? "";
      // One cancellation of an authorization is enough: its answer never changes.
      const answer = await once(
        account,
        { path: "cancels", kind: answerKinds.cancel, originalRef: paid, reference },
        `cancel:${paid}`,
      );
      if (!isKnown(answer)) return answer;
      const outcome = outcomeOf(notices, answer.value.ref, "CANCELLATION");
      if (outcome?.details.success === false) {
        return declinedAnswer("not_cancelable", textOf(outcome.details, "reason") || "Adyen refused the cancellation");
      }
      return { kind: outcome ? "succeeded" : "pending", value: "released" };
    },
  };
}

interface Modification {
  readonly path: "captures" | "refunds" | "cancels";
  readonly kind: string;
  readonly originalRef: string;
  readonly reference: string;
  readonly amount?: { readonly currency: string; readonly value: number };
}

function outcomeOf(notices: readonly Notice[], ref: string, kind: string): Notice | undefined {
  return notices.filter((each) => each.ref === ref && each.kind === kind).at(-1);
}

/** Why Adyen would refuse the capture later; undefined: nothing known is against it. */
function captureRefusal(notices: readonly Notice[], intentRef: string, amount: bigint) {
  const facts = foldIntent(intentRef, notices)?.facts ?? [];
  const held = facts.at(-1);
  if (held?.kind !== "attempt_succeeded" || held.capturedAmount > 0n) {
    return declinedAnswer("not_capturable", "it is not authorized");
  }
  const isUnderWay = notices.some(
    ({ kind, ref }) => kind === answerKinds.capture && outcomeOf(notices, ref, "CAPTURE")?.details.success !== false,
  );
  if (isUnderWay) return declinedAnswer("not_capturable", "another capture is under way");
  const { details } = notices.find(({ ref }) => ref === held.attempt.ref) as Notice;
  const authorized = fromAdyen(Number(details.amount), textOf(details, "currency"));
  return amount > authorized ? declinedAnswer("amount_too_large", "more than is authorized") : undefined;
}

function refundRefusal(notices: readonly Notice[], intentRef: string, amount: bigint) {
  const report = foldIntent(intentRef, notices);
  const captured = (report?.facts ?? []).reduce(
    (sum, fact) =>
      fact.kind === "attempt_succeeded" ? fact.capturedAmount : fact.kind === "attempt_failed" ? 0n : sum,
    0n,
  );
  if (captured === 0n) return declinedAnswer("not_refundable", "it is not captured");
  const refunded = (report?.refunds ?? [])
    .filter(({ status }) => status !== "failed")
    .reduce((sum, refund) => sum + refund.amount, 0n);
  if (refunded >= captured) return declinedAnswer("not_refundable", "all is refunded");
  return refunded + amount > captured ? declinedAnswer("amount_too_large", "more than is left") : undefined;
}

function refundAnswer(
  notices: readonly Notice[],
  isWanted: (refund: RefundReport) => boolean,
): ProcessorAnswer<RefundReport> {
  const found = foldRefunds(notices).find(isWanted);
  // Adyen has no list of refunds: without a notice nothing is proved.
  if (!found) return { kind: "unknown", cause: new Error("Adyen has not reported this refund") };
  return { kind: found.status === "pending" ? "pending" : "succeeded", value: found };
}
