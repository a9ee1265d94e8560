// Captures an authorized payment in full or in part, or cancels it. A form that is sent several times acts once.
import type { Payment } from "#proto/payments/v1/payments_pb.ts";
import { majorUnits } from "../../../../../services/public-json/csv.ts";
import { type Html, html } from "../../../../html.ts";
import type { Form } from "../../../http/form.ts";
import { onceField, onceOf } from "../../../http/once.ts";
import { merchantForm, merchantPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import { hiddenField, problemSummary, textField } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { factList } from "../../../view/table.ts";
import { minorUnits, moneyText } from "../../../view/values.ts";
import { keyAfter, keyOf, mayCancel, mayCapture, paymentOf, refusedOf } from "./refusal.ts";

const captureAction = "payments.capture";
const cancelAction = "payments.cancel";

interface FormView {
  readonly typed: string;
  readonly key: string;
  readonly problem?: string;
  /** The action may have happened, so the form stays for a retry. */
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
  merchantForm(context, "/payments/:paymentId/capture", { action: captureAction }, (visit, form) =>
    capture(context, visit, form),
  );
  merchantForm(context, "/payments/:paymentId/cancel", { action: cancelAction }, (visit, form) =>
    cancel(context, visit, form),
  );
}

async function capture(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, base, language } = visit;
  const texts = textsOf(language).payment;
  const payment = await paymentOf(context, visit);
  const typed = form.raw("amount");
  const amount = minorUnits(typed, payment.currency);
  if (amount === undefined || amount === 0n || amount > payment.amount) {
    const most = moneyText(language, payment.amount, payment.currency);
    const problem =
      amount && amount > payment.amount ? fillText(texts.amountTooLarge, { left: most }) : texts.amountWrong;
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

function capturePage(visit: MerchantVisit, payment: Payment, shown: FormView): Page {
  const texts = textsOf(visit.language).payment;
  const { typed, problem = "", isOpen = false } = shown;
  const field = textField({
    ...{ name: "amount", label: `${texts.captureAmount} (${payment.currency})`, value: typed },
    ...{ inputmode: "decimal", maxlength: 20, required: true, problem },
  });
  const fields = [hiddenField(onceField, shown.key), field];
  const form = postForm(visit, { fields, button: texts.captureNow, link: backLink(visit, payment) });
  return actionPage(visit, payment, shown, {
    ...{ title: texts.captureTitle, text: texts.captureText, refusal: texts.notCapturable },
    form: mayCapture(payment) || isOpen ? form : undefined,
  });
}

function cancelPage(visit: MerchantVisit, payment: Payment, shown: FormView): Page {
  const texts = textsOf(visit.language).payment;
  const fields = [hiddenField(onceField, shown.key)];
  const form = postForm(visit, { fields, button: texts.cancelNow, tone: "danger", link: backLink(visit, payment) });
  return actionPage(visit, payment, shown, {
    ...{ title: texts.cancelTitle, text: texts.cancelText, refusal: texts.notCancelable },
    form: mayCancel(payment) || shown.isOpen ? form : undefined,
  });
}

function backLink({ base, language }: MerchantVisit, { id }: Payment): Html {
  return html`<a href="${base}/payments/${id}">${textsOf(language).payment.back}</a>`;
}

function actionPage(
  visit: MerchantVisit,
  payment: Payment,
  { problem = "" }: FormView,
  parts: { readonly title: string; readonly text: string; readonly form: Html | undefined; readonly refusal: string },
): Page {
  const { language } = visit;
  const texts = textsOf(language).payment;
  return {
    title: parts.title,
    status: problem === "" ? 200 : 422,
    body: html`<div class="panel form-panel"><h1>${parts.title}</h1>${problemSummary(textsOf(language).frame.problemTitle, problem === "" ? [] : [["amount", problem]])}<p>${parts.text}</p>
${factList([
  [texts.payment, moneyText(language, payment.amount, payment.currency)],
  [texts.reference, payment.orderReference],
  [texts.buyer, payment.customerEmail],
])}${parts.form ?? html`<p>${parts.refusal}</p><p>${backLink(visit, payment)}</p>`}</div>`,
  };
}
