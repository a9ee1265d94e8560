// Refunds a payment: what is left by default, never above what the person may give back of it in all, once however
// often and from however many tabs it is sent. Much money asks for a fresh proof first.
import { Failure } from "#platform/values/failure.ts";
import type { Payment } from "#proto/payments/v1/payments_pb.ts";
import { html } from "../../../../html.ts";
import { displayFormats, displayText } from "../../../../http/display-text.ts";
import { idParam } from "../../../http/address.ts";
import { type Form, formFields } from "../../../http/form.ts";
import { onceField, onceOf } from "../../../http/once.ts";
import { merchantForm, merchantPage } from "../../../routes.ts";
import { requireProof } from "../../../session/prove.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { hidden, problemSummary, textField } from "../../../view/fields.ts";
import { facts } from "../../../view/table.ts";
import { majorUnits, minorUnits, money } from "../../../view/values.ts";
import { leftOf, proofAbove } from "./open-acts.ts";
import { keyAfter, keyOf, type PaymentRefusal, refusedOf } from "./refusal.ts";

const reasonMax = 255;

type Problems = readonly (readonly [field: string, text: string])[];

interface FormValues {
  readonly amount: string;
  readonly reason: string;
  readonly key: string;
}

export function refundRoutes(context: ConsoleContext): void {
  const path = "/payments/:paymentId/refund";
  merchantPage(context, path, "payments.refund", async (visit) => {
    const payment = await paymentOf(context, visit);
    const amount = majorUnits(leftOf(payment), payment.currency);
    return refundPage(visit, payment, { amount, reason: "", key: keyOf("refund", payment) });
  });
  merchantForm(context, path, { action: "payments.refund" }, async (visit, form) => await refund(context, visit, form));
}

async function refund(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const payment = await paymentOf(context, visit);
  const typed = { amount: form.raw("amount"), reason: form.raw("reason").trim(), key: form.raw(onceField) };
  const amount = minorUnits(typed.amount, payment.currency);
  const problems = problemsOf(visit, payment, amount, typed.reason);
  // What the payment had left may be gone because this very form has come before: then its key tells, not the amount.
  if (amount === undefined || problems.length > 0) return refundPage(visit, payment, typed, problems);
  const isMuch = payment.refundedAmount + amount > proofAbove(payment.currency);
  if (isMuch) {
    const proof = await requireProof(context, visit, form);
    if ("page" in proof) return proof.page;
  }
  const { merchantId, environment, base } = visit;
  const refundedAtMost = lowest(
    visit.membership.refundLimit?.amount,
    isMuch ? undefined : proofAbove(payment.currency),
  );
  const input = { merchantId, environment, paymentId: payment.id, amount, reason: typed.reason };
  const idempotency = onceOf(form, ["refund", payment.id], [amount, typed.reason]);
  try {
    const { refund: made, replayed } = await context.peers.payments.refundPayment({
      ...input,
      ...(refundedAtMost !== undefined && { refundedAtMost }),
      idempotency,
    });
    const done = replayed ? "refund-repeated" : made?.status === "succeeded" ? "refund-made" : "refund-pending";
    return { go: `${base}/payments/${payment.id}`, done };
  } catch (error) {
    const refused = refusedOf(error);
    if (!refused) throw error;
    const now = await paymentOf(context, visit).catch(() => payment);
    const again = { ...typed, key: keyAfter("refund", now, idempotency.key, refused) };
    const used = limitUsed(visit, now, amount);
    // Payments counts under the payment's lock, and says no more than that it is too much.
    if (refused.text === "tooLarge" && used !== "") return refundPage(visit, now, again, [["amount", used]]);
    return refundPage(visit, now, again, [], refused);
  }
}

function limitUsed({ language, membership }: MerchantVisit, payment: Payment, amount: bigint): string {
  const { refundLimit } = membership;
  if (!refundLimit || payment.refundedAmount + amount <= refundLimit.amount) return "";
  return fill(textsOf(language).payment.limitUsed, {
    limit: money(language, refundLimit.amount, refundLimit.currency),
  });
}

function lowest(...limits: readonly (bigint | undefined)[]): bigint | undefined {
  return limits
    .filter((limit) => limit !== undefined)
    .reduce<bigint | undefined>((low, limit) => (low === undefined || limit < low ? limit : low), undefined);
}

async function paymentOf({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Payment> {
  const { merchantId, environment } = visit;
  const paymentId = idParam(visit, "paymentId", "payment");
  const { payment } = await peers.payments.getPayment({ merchantId, environment, paymentId });
  if (!payment) throw new Failure("NOT_FOUND");
  return payment;
}

function problemsOf(visit: MerchantVisit, payment: Payment, amount: bigint | undefined, reason: string): Problems {
  const { language, membership } = visit;
  const texts = textsOf(language).payment;
  const { currency, capturedAmount } = payment;
  const { refundLimit } = membership;
  const problems: [string, string][] = [];
  if (amount === undefined || amount === 0n) problems.push(["amount", texts.amountWrong]);
  else if (refundLimit && refundLimit.currency !== currency)
    problems.push(["amount", fill(texts.refundOtherCurrency, { currency: refundLimit.currency })]);
  else if (refundLimit && amount > refundLimit.amount)
    problems.push(["amount", fill(texts.aboveLimit, { limit: money(language, refundLimit.amount, currency) })]);
  else if (amount > capturedAmount)
    problems.push(["amount", fill(texts.amountMuch, { left: money(language, leftOf(payment), currency) })]);
  const isText = displayFormats[displayText]?.(reason) ?? false;
  if (!isText || [...reason].length > reasonMax) problems.push(["reason", texts.reasonWrong]);
  return problems;
}

function refundPage(
  visit: MerchantVisit,
  payment: Payment,
  typed: FormValues,
  problems: Problems = [],
  refused?: PaymentRefusal,
): Page {
  const { language, base, token, membership } = visit;
  const texts = textsOf(language).payment;
  const left = leftOf(payment);
  const { refundLimit } = membership;
  const back = html`<a href="${base}/payments/${payment.id}">${texts.keep}</a>`;
  const problem = (field: string) => problems.find(([at]) => at === field)?.[1] ?? "";
  const shownProblems = refused ? [["amount", texts[refused.text]] as const] : problems;
  const limit = refundLimit
    ? fill(texts.refundLimit, { limit: money(language, refundLimit.amount, refundLimit.currency) })
    : "";
  const form = html`<form method="post">${hidden(formFields.token, token)}${hidden(onceField, typed.key)}
${textField({ name: "amount", label: `${texts.refundAmount} (${payment.currency})`, value: typed.amount, inputmode: "decimal", maxlength: 20, required: true, hint: limit, problem: problem("amount") })}
${textField({ name: "reason", label: texts.reason, value: typed.reason, maxlength: reasonMax, hint: texts.reasonHint, problem: problem("reason") })}
<div class="actions"><button class="button">${texts.refundNow}</button>${back}</div></form>`;
  // A form that has an answer to come is shown again also when nothing is left: its key brings the answer.
  const isShown = left > 0n || refused?.keepsKey === true;
  return {
    title: texts.refundTitle,
    status: shownProblems.length > 0 ? 422 : 200,
    body: html`<div class="panel form-panel"><h1>${texts.refundTitle}</h1>${problemSummary(texts.wrongTitle, shownProblems)}<p>${texts.refundText}</p>
${facts([
  [texts.payment, money(language, payment.amount, payment.currency)],
  [texts.reference, payment.orderReference],
  [texts.buyer, payment.customerEmail],
  [texts.left, money(language, left, payment.currency)],
])}${isShown ? form : html`<p>${texts.nothingLeft}</p><p>${back}</p>`}</div>`,
  };
}
