// Captures what is authorized of a payment, all or a part, or cancels it: each on a page of its own that says what it
// does, once however often it is sent.
import { Failure } from "#platform/values/failure.ts";
import type { Payment } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { idParam } from "../../../http/address.ts";
import { type Form, formFields } from "../../../http/form.ts";
import { onceField, onceOf } from "../../../http/once.ts";
import { merchantForm, merchantPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { hidden, problemSummary, textField } from "../../../view/fields.ts";
import { facts } from "../../../view/table.ts";
import { majorUnits, minorUnits, money } from "../../../view/values.ts";
import { mayCancel, mayCapture } from "./open-acts.ts";
import { keyAfter, keyOf, refusedOf } from "./refusal.ts";

const captureAction = "payments.capture";
const cancelAction = "payments.cancel";

interface FormView {
  readonly typed: string;
  readonly key: string;
  /** What is wrong; empty: nothing. */
  readonly problem?: string;
  /** It may have been done: the form stays, whatever the payment says. */
  readonly isOpen?: boolean;
}

export function captureRoutes(context: ConsoleContext): void {
  merchantPage(context, "/payments/:paymentId/capture", captureAction, async (visit) => {
    const payment = await paymentOf(context, visit);
    const typed = majorUnits(payment.amount, payment.currency);
    return capturePage(visit, payment, { typed, key: keyOf("capture", payment) });
  });
  merchantPage(context, "/payments/:paymentId/cancel", cancelAction, async (visit) => {
    const payment = await paymentOf(context, visit);
    return cancelPage(visit, payment, { typed: "", key: keyOf("cancel", payment) });
  });
  merchantForm(context, "/payments/:paymentId/capture", { action: captureAction }, async (visit, form) => {
    return await capture(context, visit, form);
  });
  merchantForm(context, "/payments/:paymentId/cancel", { action: cancelAction }, async (visit, form) => {
    return await cancel(context, visit, form);
  });
}

async function capture(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, base, language } = visit;
  const texts = textsOf(language).payment;
  const payment = await paymentOf(context, visit);
  const typed = form.raw("amount");
  const amount = minorUnits(typed, payment.currency);
  if (amount === undefined || amount === 0n || amount > payment.amount) {
    const most = money(language, payment.amount, payment.currency);
    const problem = amount && amount > payment.amount ? fill(texts.amountMuch, { left: most }) : texts.amountWrong;
    return capturePage(visit, payment, { typed, key: form.raw(onceField), problem });
  }
  const idempotency = onceOf(form, ["capture", payment.id], [amount]);
  try {
    const input = { merchantId, environment, paymentId: payment.id, amount, idempotency };
    const { payment: after } = await context.peers.payments.capturePayment(input);
    return { go: `${base}/payments/${payment.id}`, done: after?.capturedAt ? "captured" : "capture-pending" };
  } catch (error) {
    const refused = refusedOf(error);
    if (!refused) throw error;
    const now = await paymentOf(context, visit).catch(() => payment);
    const key = keyAfter("capture", now, idempotency.key, refused);
    return capturePage(visit, now, { typed, key, problem: texts[refused.text], isOpen: refused.keepsKey });
  }
}

async function cancel(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, base, language } = visit;
  const payment = await paymentOf(context, visit);
  const idempotency = onceOf(form, ["cancel", payment.id], []);
  try {
    const input = { merchantId, environment, paymentId: payment.id, idempotency };
    const { payment: after } = await context.peers.payments.cancelPayment(input);
    return { go: `${base}/payments/${payment.id}`, done: after?.status === "canceled" ? "canceled" : "cancel-pending" };
  } catch (error) {
    const refused = refusedOf(error);
    if (!refused) throw error;
    const now = await paymentOf(context, visit).catch(() => payment);
    const key = keyAfter("cancel", now, idempotency.key, refused);
    const problem = textsOf(language).payment[refused.text];
    return cancelPage(visit, now, { typed: "", key, problem, isOpen: refused.keepsKey });
  }
}

async function paymentOf({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Payment> {
  const { merchantId, environment } = visit;
  const paymentId = idParam(visit, "paymentId", "payment");
  const { payment } = await peers.payments.getPayment({ merchantId, environment, paymentId });
  if (!payment) throw new Failure("NOT_FOUND");
  return payment;
}

function capturePage(visit: MerchantVisit, payment: Payment, shown: FormView): Page {
  const texts = textsOf(visit.language).payment;
  const { typed, problem = "", isOpen = false } = shown;
  const field = textField({
    ...{ name: "amount", label: `${texts.captureAmount} (${payment.currency})`, value: typed },
    ...{ inputmode: "decimal", maxlength: 20, required: true, problem },
  });
  const form = mayCapture(payment) || isOpen ? actForm(visit, payment, shown, field, texts.captureNow, "") : undefined;
  return actPage(visit, payment, shown, {
    title: texts.captureTitle,
    text: texts.captureText,
    form,
    not: texts.notCapturable,
  });
}

function cancelPage(visit: MerchantVisit, payment: Payment, shown: FormView): Page {
  const texts = textsOf(visit.language).payment;
  const isPossible = mayCancel(payment) || shown.isOpen === true;
  const form = isPossible ? actForm(visit, payment, shown, html``, texts.cancelNow, "danger") : undefined;
  return actPage(visit, payment, shown, {
    title: texts.cancelTitle,
    text: texts.cancelText,
    form,
    not: texts.notCancelable,
  });
}

function actForm(
  visit: MerchantVisit,
  payment: Payment,
  { key }: FormView,
  field: Html,
  label: string,
  kind: string,
): Html {
  return html`<form method="post">${hidden(formFields.token, visit.token)}${hidden(onceField, key)}
${field}<div class="actions"><button class="button ${kind}">${label}</button>${backLink(visit, payment)}</div></form>`;
}

function backLink({ base, language }: MerchantVisit, { id }: Payment): Html {
  return html`<a href="${base}/payments/${id}">${textsOf(language).payment.keep}</a>`;
}

function actPage(
  visit: MerchantVisit,
  payment: Payment,
  { problem = "" }: FormView,
  parts: { readonly title: string; readonly text: string; readonly form: Html | undefined; readonly not: string },
): Page {
  const { language } = visit;
  const texts = textsOf(language).payment;
  return {
    title: parts.title,
    status: problem === "" ? 200 : 422,
    body: html`<div class="panel form-panel"><h1>${parts.title}</h1>${problemSummary(texts.wrongTitle, problem === "" ? [] : [["amount", problem]])}<p>${parts.text}</p>
${facts([
  [texts.payment, money(language, payment.amount, payment.currency)],
  [texts.reference, payment.orderReference],
  [texts.buyer, payment.customerEmail],
])}${parts.form ?? html`<p>${parts.not}</p><p>${backLink(visit, payment)}</p>`}</div>`,
  };
}
