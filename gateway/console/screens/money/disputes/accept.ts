// Accepts a dispute. It gives money away like a refund, so the refund limit applies and large amounts need fresh proof.
import { asFailure, Failure } from "#platform/values/failure.ts";
import type { DisputeRecord } from "#proto/payments/v1/disputes_pb.ts";
import { html } from "../../../../html.ts";
import { onceField, onceKey, onceOf } from "../../../http/once.ts";
import { merchantForm, merchantPage } from "../../../routes.ts";
import { requireProof } from "../../../session/prove.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import { hiddenField, problemSummary } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { moneyText } from "../../../view/values.ts";
import { proofAbove, refundLimitIn } from "../payment/refusal.ts";

const action = "disputes.answer";

const refusals = {
  DISPUTE_NOT_ANSWERABLE: "over",
  IDEMPOTENCY_CONFLICT: "busy",
  CONNECTOR_ERROR: "processorRejected",
  SERVICE_UNAVAILABLE: "unknown",
} as const;

export function acceptRoutes(
  context: ConsoleContext,
  find: (context: ConsoleContext, visit: MerchantVisit) => Promise<DisputeRecord>,
): void {
  const path = "/disputes/:disputeId/accept";
  merchantPage(context, path, action, async (visit) => {
    const record = await find(context, visit);
    const isAllowed = isWithinLimit(visit, record, await sumReturned(context, visit, record));
    return acceptPage(visit, record, "", isAllowed);
  });
  merchantForm(context, path, { action }, async (visit, form) => {
    const { merchantId, environment, base, language } = visit;
    const record = await find(context, visit);
    const disputeId = record.dispute?.id ?? "";
    const returnedAmount = await sumReturned(context, visit, record);
    if (!isWithinLimit(visit, record, returnedAmount)) {
      return { ...acceptPage(visit, record, "", false), status: 422 };
    }
    if (returnedAmount > proofAbove(record.currency)) {
      const proof = await requireProof(context, visit, form);
      if ("page" in proof) return proof.page;
    }
    const idempotency = onceOf(form, ["accept", disputeId], []);
    try {
      const ids = { merchantId, environment, disputeId };
      const { dispute } = await context.peers.disputes.acceptDispute({ ...ids, idempotency });
      const done = dispute?.acceptance === "accepted" ? "dispute-accepted" : "acceptance-pending";
      return { go: `${base}/disputes/${disputeId}`, done };
    } catch (error) {
      const text = new Map(Object.entries(refusals)).get(asFailure(error).reason);
      if (!text) throw error;
      return acceptPage(visit, record, textsOf(language).disputes[text]);
    }
  });
}

/** Minor units that the customer got by refunds and would keep by this dispute. */
async function sumReturned(
  { peers }: ConsoleContext,
  { merchantId, environment }: MerchantVisit,
  { dispute, paymentId }: DisputeRecord,
): Promise<bigint> {
  const { payment } = await peers.payments.getPayment({ merchantId, environment, paymentId });
  if (!payment || !dispute) throw new Failure("NOT_FOUND");
  return payment.refundedAmount + dispute.amount;
}

function isWithinLimit({ membership }: MerchantVisit, { currency }: DisputeRecord, returnedAmount: bigint): boolean {
  const limit = refundLimitIn(membership, currency);
  return limit === undefined || returnedAmount <= limit;
}

function acceptPage(
  visit: MerchantVisit,
  { dispute, currency }: DisputeRecord,
  problem: string,
  isAllowed = true,
): Page {
  const { language, base, membership } = visit;
  const texts = textsOf(language).disputes;
  const id = dispute?.id ?? "";
  const back = html`<a href="${base}/disputes/${id}">${texts.back}</a>`;
  const limit = moneyText(language, refundLimitIn(membership, currency) ?? 0n, currency);
  const amount = moneyText(language, dispute?.amount ?? 0n, currency);
  const form = postForm(visit, {
    fields: [hiddenField(onceField, onceKey("accept", id, 0))],
    button: fillText(texts.acceptNow, { amount }),
    tone: "danger",
    link: back,
  });
  return {
    title: texts.accept,
    status: problem === "" ? 200 : 422,
    body: html`<div class="panel form-panel"><h1>${texts.accept}</h1>${problemSummary(texts.wrong, problem === "" ? [] : [["main", problem]])}<p>${texts.acceptText}</p>
${isAllowed ? form : html`<p>${fillText(texts.acceptAboveLimit, { limit })}</p><p>${back}</p>`}</div>`,
  };
}
