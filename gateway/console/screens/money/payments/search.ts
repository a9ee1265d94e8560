// The search box of every page. A whole id leads to its object. Any other text is searched as order number, e-mail,
// card digits, processor's ID and amount, with the results by kind.

import { asFailure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import { currencyExponent } from "#platform/values/money.ts";
import type { Session } from "#proto/checkout/v1/checkout_pb.ts";
import type { ListedPayment } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { merchantPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import { addressWith } from "../../../view/pieces.ts";
import { loadSection } from "../../../view/section.ts";
import { minorUnits } from "../../../view/values.ts";
import { checkoutTable } from "../links/checkouts.ts";
import { paymentTable } from "./table.ts";

const queryMax = 254;
// Per kind; the lists show all.
const shownMax = 20;

export function searchRoutes(context: ConsoleContext): void {
  merchantPage(context, "/search", "payments.read", (visit) => search(context, visit));
}

async function search(context: ConsoleContext, visit: MerchantVisit): Promise<Answer> {
  const texts = textsOf(visit.language).search;
  const q = (queryOf(visit).get("q") ?? "").trim().replaceAll(/\s+/g, " ").slice(0, queryMax);
  const path = await pathOfId(context, visit, q.replaceAll(" ", ""));
  if (path !== undefined) return { go: `${visit.base}${path}` };
  const title = q === "" ? texts.title : fillText(texts.titleOf, { q });
  const sections = q === "" ? [] : await Promise.all(sectionsOf(context, visit, q));
  const shown = sections.filter((each) => typeof each !== "string");
  const none = html`<div class="empty"><p>${q === "" ? texts.hint : fillText(texts.none, { q })}</p><p class="muted">${q === "" ? "" : texts.hint}</p></div>`;
  return { title, body: html`<h1>${title}</h1>${shown.length === 0 ? none : shown}` };
}

/** The page of an object by its id, if the merchant has it. */
async function pathOfId({ peers }: ConsoleContext, visit: MerchantVisit, id: string): Promise<string | undefined> {
  const { merchantId, environment } = visit;
  const { payments, checkout, disputes, links } = peers;
  const own = { merchantId, environment };
  const find = async (): Promise<string | undefined> => {
    if (isId("payment", id)) {
      await payments.getPayment({ ...own, paymentId: id });
      return `/payments/${id}`;
    }
    if (isId("refund", id)) {
      const { refund } = await payments.getRefund({ ...own, refundId: id });
      return refund && `/payments/${refund.paymentId}`;
    }
    if (isId("dispute", id)) {
      await disputes.getDispute({ ...own, disputeId: id });
      return `/disputes/${id}`;
    }
    if (isId("paymentLink", id)) {
      await links.getPaymentLink({ ...own, linkId: id });
      return `/links/${id}`;
    }
    if (!isId("session", id)) return undefined;
    await checkout.getSession({ ...own, sessionId: id });
    return `/checkouts/${id}`;
  };
  return await find().catch((error: unknown) => {
    if (asFailure(error).reason !== "NOT_FOUND") throw error;
    return undefined;
  });
}

function sectionsOf(context: ConsoleContext, visit: MerchantVisit, q: string): Promise<Html | string>[] {
  const { peers } = context;
  const { language, merchantId, environment } = visit;
  const texts = textsOf(language).search;
  const own = { merchantId, environment, limit: shownMax };
  const amount = amountOf(q);
  return [
    loadSection(
      language,
      texts.payments,
      () => peers.payments.listPayments({ ...own, q }),
      ({ payments, hasMore }) => paymentSection(visit, texts.payments, payments, hasMore ? { q } : undefined),
    ),
    amount
      ? loadSection(
          language,
          texts.byAmount,
          () => findByAmount(context, visit, amount),
          (payments) => paymentSection(visit, fillText(texts.amountOf, { amount: q }), payments, undefined),
        )
      : Promise.resolve(""),
    loadSection(
      language,
      texts.checkouts,
      () => peers.checkout.listSessions({ ...own, q }),
      ({ sessions }) =>
        // A paid checkout is among the payments.
        checkoutSection(
          visit,
          sessions.filter(({ paymentId, paymentHidden }) => paymentId === "" || paymentHidden),
        ),
    ),
  ];
}

interface Amount {
  readonly text: string;
  /** Empty: any currency. */
  readonly currency: string;
}

/** For example `129`, `129.00`, `€129` or `129,00 EUR`. */
function amountOf(q: string): Amount | undefined {
  const [, before = "", text = "", after = ""] = /^(\p{Sc}|[a-z]{3})? ?([\d.,]+) ?(\p{Sc}|[a-z]{3})?$/iu.exec(q) ?? [];
  const code = [before, after].find((each) => currencyExponent(each.toUpperCase()) !== undefined) ?? "";
  return text === "" ? undefined : { text, currency: code.toUpperCase() };
}

/** Without a currency, payments in currencies with two decimals. */
async function findByAmount(
  { peers }: ConsoleContext,
  { merchantId, environment }: MerchantVisit,
  { text, currency }: Amount,
): Promise<readonly ListedPayment[]> {
  const amount = minorUnits(text, currency || "EUR");
  if (amount === undefined) return [];
  const bounds = { minAmount: amount, maxAmount: amount };
  const request = { merchantId, environment, limit: shownMax, currency, ...bounds };
  const { payments } = await peers.payments.listPayments(request);
  return currency === "" ? payments.filter((one) => currencyExponent(one.currency) === 2) : payments;
}

function paymentSection(
  visit: MerchantVisit,
  title: string,
  payments: readonly ListedPayment[],
  more: { readonly q: string } | undefined,
): Html | string {
  if (payments.length === 0) return "";
  const all = more
    ? html`<p><a href="${addressWith(`${visit.base}/payments`, more)}">${textsOf(visit.language).search.showAll}</a></p>`
    : "";
  return html`<section><h2>${title}</h2>${paymentTable(visit, title, payments)}${all}</section>`;
}

function checkoutSection(visit: MerchantVisit, sessions: readonly Session[]): Html | string {
  if (sessions.length === 0) return "";
  const { search, links } = textsOf(visit.language);
  return html`<section><h2>${search.checkouts}</h2>${checkoutTable(visit, sessions, links.noCheckouts)}</section>`;
}
