// The list of payments with search, filters, exact totals, keyset pages, saved views and a CSV export of the same list.
import type { ListedPayment, ListPaymentsResponse } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { cardText } from "../../../texts/labels.ts";
import { fill, pluralText, textsOf } from "../../../texts/texts.ts";
import { problemSummary } from "../../../view/fields.ts";
import { filterChips, pages } from "../../../view/pieces.ts";
import { section } from "../../../view/section.ts";
import { table } from "../../../view/table.ts";
import { moment, money } from "../../../view/values.ts";
import { paymentChip } from "../payment/facts.ts";
import { exportRoutes } from "./export.ts";
import { filterForm } from "./filter-form.ts";
import { labelsOf, type PaymentFilters, queryOfFilters, readFilters } from "./filters.ts";
import { viewRoutes, viewsOf } from "./views.ts";

const pageSize = 50;

export function paymentsRoutes(context: ConsoleContext): void {
  merchantPage(context, "/payments", "payments.read", (visit) => paymentsPage(context, visit));
  exportRoutes(context);
  viewRoutes(context, paymentsPage);
}

/** @param problem with the name of a new view */
async function paymentsPage(context: ConsoleContext, visit: MerchantVisit, problem = ""): Promise<Page> {
  const { language, base } = visit;
  const texts = textsOf(language).payments;
  const path = `${base}/payments`;
  const query = queryOf(visit);
  const filters = readFilters(query, language);
  const views = viewsOf(context, visit, filters, problem);
  const isWrong = filters.problems.length > 0;
  return {
    title: texts.title,
    status: isWrong || problem !== "" ? 422 : 200,
    body: html`<h1>${texts.title}</h1>
${problemSummary(texts.wrong, filters.problems)}
${filterForm(visit, path, filters)}${filterChips(language, path, query, labelsOf(language, filters.typed))}
${
  isWrong
    ? ""
    : await section(
        language,
        texts.title,
        () => find(context, visit, filters),
        (found) => list(visit, filters, found),
      )
}
${await views}`,
  };
}

async function find({ peers }: ConsoleContext, visit: MerchantVisit, { criteria }: PaymentFilters) {
  const { merchantId, environment } = visit;
  const afterId = queryOf(visit).get("after") ?? "";
  return await peers.payments.listPayments({ merchantId, environment, limit: pageSize, afterId, ...criteria });
}

function list(visit: MerchantVisit, filters: PaymentFilters, found: ListPaymentsResponse): Html {
  const { language, base } = visit;
  const texts = textsOf(language).payments;
  const path = `${base}/payments`;
  const query = queryOf(visit);
  const next = found.hasMore ? found.payments.at(-1)?.id : "";
  return html`${table({
    caption: texts.title,
    rows: found.payments,
    empty: filters.isAny ? texts.noneFound : texts.none,
    columns: [
      { heading: texts.amount, isNumber: true, cell: (payment) => amountLink(visit, payment) },
      { heading: texts.status, cell: (payment) => paymentChip(language, payment) },
      { heading: texts.buyer, cell: ({ customerEmail }) => customerEmail },
      { heading: texts.card, cell: ({ card }) => cardText(card) },
      { heading: texts.reference, cell: ({ orderReference }) => orderReference },
      { heading: texts.created, cell: ({ createdAt }) => moment(language, createdAt) },
    ],
  })}
${pages(language, { path, query, next, total: pluralText(language, texts.total, found.total) })}${download(visit, filters, found.total)}`;
}

/** The link names the number of payments in the file. */
function download({ base, language, may }: MerchantVisit, { typed }: PaymentFilters, total: bigint): Html | string {
  if (total === 0n || !may("payments.export")) return "";
  const texts = textsOf(language).payments;
  const query = queryOfFilters(typed);
  return html`<p><a class="button secondary" href="${base}/payments.csv${query === "" ? "" : `?${query}`}" download>${fill(texts.download, { payments: pluralText(language, texts.total, total) })}</a></p>`;
}

/** The amount, with the captured amount if it differs. */
function amountLink({ language, base }: MerchantVisit, payment: ListedPayment): Html {
  const { id, amount, capturedAmount, currency } = payment;
  const amountAnchor = html`<a href="${base}/payments/${id}">${money(language, amount, currency)}</a>`;
  if (capturedAmount === 0n || capturedAmount === amount) return amountAnchor;
  const capturedText = fill(textsOf(language).payment.capturedAmount, {
    amount: money(language, capturedAmount, currency),
  });
  return html`${amountAnchor}<br><span class="muted">${capturedText}</span>`;
}
