// A table of payments, on the list, among the results of a search and next to a payment.
import type { ListedPayment, Payment } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import type { MerchantVisit } from "../../../session/visit.ts";
import { methodText, stateOf } from "../../../texts/labels.ts";
import { fillText, type Language, textsOf } from "../../../texts/texts.ts";
import { toneChip } from "../../../view/pieces.ts";
import { htmlTable } from "../../../view/table.ts";
import { dateTimeText, moneyText } from "../../../view/values.ts";
import { mayCapture } from "../payment/refusal.ts";

export function paymentTable(visit: MerchantVisit, caption: string, rows: readonly ListedPayment[], empty = ""): Html {
  const { language } = visit;
  const texts = textsOf(language).payments;
  return htmlTable({
    ...{ caption, rows, empty },
    columns: [
      { heading: texts.amount, isNumber: true, cell: (payment) => amountLink(visit, payment) },
      { heading: texts.status, cell: (payment) => paymentChip(language, payment) },
      { heading: texts.buyer, cell: ({ customerEmail }) => customerEmail },
      { heading: texts.method, cell: methodText },
      { heading: texts.reference, cell: ({ orderReference }) => orderReference },
      { heading: texts.created, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
    ],
  });
}

/** An authorization is not paid yet, although its status is `succeeded`. */
export function paymentChip(language: Language, payment: Payment | ListedPayment): Html {
  if (mayCapture(payment)) return toneChip(textsOf(language).payment.authorized, "wait");
  const { text, tone } = stateOf(language, "paymentStates", payment.status);
  return toneChip(text, tone);
}

/** The amount, with the captured amount if it differs. */
function amountLink({ language, base }: MerchantVisit, payment: ListedPayment): Html {
  const { id, amount, capturedAmount, currency } = payment;
  const amountAnchor = html`<a href="${base}/payments/${id}">${moneyText(language, amount, currency)}</a>`;
  if (capturedAmount === 0n || capturedAmount === amount) return amountAnchor;
  const capturedText = fillText(textsOf(language).payment.capturedAmount, {
    amount: moneyText(language, capturedAmount, currency),
  });
  return html`${amountAnchor}<br><span class="muted">${capturedText}</span>`;
}
