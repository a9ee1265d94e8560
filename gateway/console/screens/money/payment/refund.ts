// Refunds a payment, by default in full, up to the person's refund limit per payment. A form that is sent several times
// or from several tabs refunds once. Large amounts need fresh proof.
import type { Payment } from "#proto/payments/v1/payments_pb.ts";
import { majorUnits } from "../../../../../services/public-json/csv.ts";
import { html } from "../../../../html.ts";
import { type Form, isText } from "../../../http/form.ts";
import { onceField, onceOf } from "../../../http/once.ts";
import { merchantForm, merchantPage } from "../../../routes.ts";
import { requireProof } from "../../../session/prove.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import { hiddenField, type Problems, problemSummary, selectField, textFields } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { factList } from "../../../view/table.ts";
import { minorUnits, moneyText } from "../../../view/values.ts";
import {
  keyAfter,
  keyOf,
  type PaymentRefusal,
  paymentOf,
  proofAbove,
  refundableAmount,
  refundableBy,
  refundLimitIn,
  refusedOf,
} from "./refusal.ts";

const reasonMax = 255;

// Of the reasons that a processor or this console names, those that staff choose from.
const reasons = [
  "requested_by_customer",
  "duplicate",
  "fraudulent",
  "product_not_received",
  "product_unacceptable",
] as const;

interface FormValues {
  readonly amount: string;
  /** One of the choices, or empty. */
  readonly reason: string;
  /** In the person's own words, instead of a choice. */
  readonly other: string;
  readonly key: string;
}

export function refundRoutes(context: ConsoleContext): void {
  const path = "/payments/:paymentId/refund";
  merchantPage(context, path, "payments.refund", async (visit) => {
    const payment = await paymentOf(context, visit);
    const amount = majorUnits(refundableBy(visit, payment), payment.currency);
    return refundPage(visit, payment, { amount, reason: "", other: "", key: keyOf("refund", payment) });
  });
  merchantForm(context, path, { action: "payments.refund" }, (visit, form) => refund(context, visit, form));
}

async function refund(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const payment = await paymentOf(context, visit);
  const typed = {
    ...{ amount: form.raw("amount"), reason: reasons.find((each) => each === form.raw("reason")) ?? "" },
    ...{ other: form.raw("other").trim(), key: form.raw(onceField) },
  };
  const reason = typed.other || typed.reason;
  const amount = minorUnits(typed.amount, payment.currency);
  const problems = problemsOf(visit, payment, amount, typed.other);
  // The limit here is the captured amount, not the rest: this form may have refunded before, and its key then decides.
  if (amount === undefined || problems.length > 0) return refundPage(visit, payment, typed, problems);
  const needsProof = payment.refundedAmount + amount > proofAbove(payment.currency);
  if (needsProof) {
    const proof = await requireProof(context, visit, form);
    if ("page" in proof) return proof.page;
  }
  const { merchantId, environment, base } = visit;
  const limits = [
    refundLimitIn(visit.membership, payment.currency),
    needsProof ? undefined : proofAbove(payment.currency),
  ];
  const [refundedAtMost] = limits.filter((limit) => limit !== undefined).sort((a, b) => (a < b ? -1 : 1));
  const input = { merchantId, environment, paymentId: payment.id, amount, reason };
  const idempotency = onceOf(form, ["refund", payment.id], [amount, reason]);
  try {
    const { refund: created, replayed } = await context.peers.payments.refundPayment({
      ...input,
      ...(refundedAtMost !== undefined && { refundedAtMost }),
      idempotency,
    });
    const done = replayed ? "refund-repeated" : created?.status === "succeeded" ? "refund-made" : "refund-pending";
    return { go: `${base}/payments/${payment.id}`, done };
  } catch (error) {
    const refused = refusedOf(error);
    if (!refused) throw error;
    const now = await paymentOf(context, visit).catch(() => payment);
    const again = { ...typed, key: keyAfter("refund", now, idempotency.key, refused) };
    const used = limitUsed(visit, now, amount);
    // The payments service checks the limit under a lock, without naming the limit in its refusal.
    if (refused.text === "tooLarge" && used !== "") return refundPage(visit, now, again, [["amount", used]]);
    return refundPage(visit, now, again, [], refused);
  }
}

function limitUsed({ language, membership }: MerchantVisit, payment: Payment, amount: bigint): string {
  const limit = refundLimitIn(membership, payment.currency);
  if (limit === undefined || payment.refundedAmount + amount <= limit) return "";
  return fillText(textsOf(language).payment.limitUsed, { limit: moneyText(language, limit, payment.currency) });
}

function problemsOf(visit: MerchantVisit, payment: Payment, amount: bigint | undefined, other: string): Problems {
  const { language, membership } = visit;
  const texts = textsOf(language).payment;
  const { currency, capturedAmount } = payment;
  const limit = refundLimitIn(membership, currency);
  const money = (value: bigint) => moneyText(language, value, currency);
  const problems: [string, string][] = [];
  if (amount === undefined || amount === 0n) problems.push(["amount", texts.amountWrong]);
  else if (limit === 0n) problems.push(["amount", fillText(texts.refundOtherCurrency, { currency })]);
  else if (limit !== undefined && amount > limit)
    problems.push(["amount", fillText(texts.aboveLimit, { limit: money(limit) })]);
  else if (amount > capturedAmount)
    problems.push(["amount", fillText(texts.amountTooLarge, { left: money(refundableAmount(payment)) })]);
  if (!isText(other, reasonMax)) problems.push(["other", texts.reasonWrong]);
  return problems;
}

function refundPage(
  visit: MerchantVisit,
  payment: Payment,
  typed: FormValues,
  problems: Problems = [],
  refused?: PaymentRefusal,
): Page {
  const { language, base, membership } = visit;
  const texts = textsOf(language).payment;
  const { currency } = payment;
  const money = (value: bigint) => moneyText(language, value, currency);
  const left = refundableAmount(payment);
  const limit = refundLimitIn(membership, currency);
  const back = html`<a href="${base}/payments/${payment.id}">${texts.back}</a>`;
  const shownProblems = refused ? [["amount", texts[refused.text]] as const] : problems;
  const hint = limit === undefined ? "" : fillText(texts.refundLimit, { limit: money(limit) });
  const field = textFields(typed, problems);
  const choices = [
    { value: "", label: texts.reasonNone },
    ...reasons.map((value) => ({ value, label: translateCode(language, "reasons", value) })),
  ];
  const form = postForm(visit, {
    fields: [
      hiddenField(onceField, typed.key),
      field("amount", `${texts.refundAmount} (${currency})`, {
        inputmode: "decimal",
        maxlength: 20,
        required: true,
        hint,
      }),
      selectField({ name: "reason", label: texts.reason, value: typed.reason, choices }),
      field("other", texts.reasonOther, { maxlength: reasonMax, hint: texts.reasonHint }),
    ],
    button: texts.refundNow,
    link: back,
  });
  const limited = limit === 0n ? texts.refundOtherCurrency : texts.limitReached;
  const none = left === 0n ? texts.nothingLeft : fillText(limited, { currency, limit: money(limit ?? 0n) });
  // With an open outcome the form stays even if nothing is left: its key returns the result.
  const isShown = refundableBy(visit, payment) > 0n || refused?.keepsKey === true || problems.length > 0;
  return {
    title: texts.refundTitle,
    status: shownProblems.length > 0 ? 422 : 200,
    body: html`<div class="panel form-panel"><h1>${texts.refundTitle}</h1>${problemSummary(textsOf(language).frame.problemTitle, shownProblems)}<p>${texts.refundText}</p>
${factList([
  [texts.payment, money(payment.amount)],
  [texts.reference, payment.orderReference],
  [texts.buyer, payment.customerEmail],
  [texts.refundable, money(left)],
])}${isShown ? form : html`<p>${none}</p><p>${back}</p>`}</div>`,
  };
}
