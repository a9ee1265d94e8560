// Other payments of the same order number and of the same customer. An order that was paid twice is named first.
import type { ListedPayment, Payment } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import { addressWith } from "../../../view/pieces.ts";
import { unlessAway } from "../../../view/section.ts";
import { dateTimeText, moneyText } from "../../../view/values.ts";
import { paymentTable } from "../payments/table.ts";

// The list of payments shows all of them.
const shownMax = 10;

export interface RelatedPayments {
  readonly ofOrder: readonly ListedPayment[];
  readonly ofBuyer: readonly ListedPayment[];
}

/** Both are empty during an outage. */
export async function findRelated(
  { peers }: ConsoleContext,
  { merchantId, environment }: MerchantVisit,
  { id, orderReference, customerEmail }: Payment,
): Promise<RelatedPayments> {
  const find = async (filter: { orderReference: string } | { q: string }, wanted: string) => {
    if (wanted === "") return [];
    const request = { merchantId, environment, limit: shownMax + 1, ...filter };
    const found = await unlessAway(() => peers.payments.listPayments(request));
    return (found?.value.payments ?? []).filter((other) => other.id !== id);
  };
  const [ofOrder, withEmail] = await Promise.all([
    find({ orderReference }, orderReference),
    find({ q: customerEmail }, customerEmail),
  ]);
  const isOfOrder = new Set(ofOrder.map((other) => other.id));
  // The search also finds longer addresses that contain this one.
  const email = customerEmail.toLowerCase();
  const ofBuyer = withEmail.filter((one) => one.customerEmail.toLowerCase() === email && !isOfOrder.has(one.id));
  return { ofOrder, ofBuyer };
}

/** The warning that more than one payment of this order took money. */
export function renderPaidTwice(
  { language, base }: MerchantVisit,
  payment: Payment,
  { ofOrder }: RelatedPayments,
): Html | string {
  const others = ofOrder.filter(isPaid);
  if (others.length === 0 || !isPaid(payment)) return "";
  const texts = textsOf(language).payment;
  const links = others.map(
    ({ id, amount, currency, createdAt }) =>
      html`<li><a href="${base}/payments/${id}">${moneyText(language, amount, currency)}</a> ${dateTimeText(language, createdAt)}</li>`,
  );
  const text = fillText(texts.paidTwice, { order: payment.orderReference, count: others.length + 1 });
  return html`<section class="warning" role="note"><p><strong>${text}</strong></p><ul>${links}</ul></section>`;
}

/** Money is taken or held, and not all was refunded. */
function isPaid({ status }: { readonly status: string }): boolean {
  return status === "succeeded" || status === "partially_refunded" || status === "disputed";
}

export function renderRelated(visit: MerchantVisit, payment: Payment, related: RelatedPayments): Html | string {
  const texts = textsOf(visit.language).payment;
  const { orderReference, customerEmail } = payment;
  return html`${relatedTable(visit, texts.sameOrder, related.ofOrder, { reference: orderReference })}${relatedTable(visit, texts.sameBuyer, related.ofBuyer, { q: customerEmail })}`;
}

function relatedTable(
  visit: MerchantVisit,
  title: string,
  payments: readonly ListedPayment[],
  filter: Readonly<Record<string, string>>,
): Html | string {
  if (payments.length === 0) return "";
  const { language, base } = visit;
  const texts = textsOf(language).payment;
  const all = html`<p><a href="${addressWith(`${base}/payments`, filter)}">${texts.showAll}</a></p>`;
  return html`<section class="panel"><h2>${title}</h2>${paymentTable(visit, title, payments.slice(0, shownMax))}${payments.length > shownMax ? all : ""}</section>`;
}
