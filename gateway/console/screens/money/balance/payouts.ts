// Payouts to the bank, and one payout with its transactions, also as a CSV file.
import { Failure } from "#platform/values/failure.ts";
import type { ListBalanceTransactionsResponse, Payout } from "#proto/payments/v1/balance_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { idParam, queryOf } from "../../../http/address.ts";
import { merchantPage } from "../../../routes.ts";
import { admitMember, admitPerson } from "../../../session/admit.ts";
import { Downloads, sendCsv } from "../../../session/download.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { stateOf } from "../../../texts/labels.ts";
import { fillText, type Language, pluralText, textsOf } from "../../../texts/texts.ts";
import { cursorLinks, renderCopyable, toneChip } from "../../../view/pieces.ts";
import { loadSection } from "../../../view/section.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { dateTimeText, dayShown, moneyText } from "../../../view/values.ts";
import { csvFileOf } from "../payments/csv.ts";
import { transactionColumns, transactionTable } from "./transactions.ts";

const pageSize = 50;
const filePageSize = 200;
const exportRight = "payments.export";

export function payoutsRoutes(context: ConsoleContext): void {
  const downloads = new Downloads();
  merchantPage(context, "/payouts", "payments.read", (visit) => payoutsPage(context, visit));
  merchantPage(context, "/payouts/:payoutId", "payments.read", (visit) => payoutPage(context, visit));
  merchantPage(context, "/payouts/:payoutId/transactions.csv", exportRight, async (visit) => {
    const { merchantId, environment, request, reply } = visit;
    const payout = await payoutOf(context, visit);
    return await sendCsv(visit, downloads, {
      ...csvFileOf(transactionColumns, ({ transactions }: ListBalanceTransactionsResponse) => transactions),
      name: `payout-${payout.arrivalDate}`,
      owner: merchantId,
      assertStillMay: async () => admitMember(await admitPerson(context, request, reply), exportRight),
      load: (afterId) =>
        context.peers.balance.listBalanceTransactions({
          ...{ merchantId, environment, payoutId: payout.id, limit: filePageSize, afterId },
        }),
    });
  });
}

async function payoutsPage({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base, merchantId, environment } = visit;
  const texts = textsOf(language).balance;
  const path = `${base}/payouts`;
  const query = queryOf(visit);
  const afterId = query.get("after") ?? "";
  const list = () => peers.balance.listPayouts({ merchantId, environment, limit: pageSize, afterId });
  const body = await loadSection(language, texts.payouts, list, (found) => {
    const next = found.hasMore ? found.payouts.at(-1)?.id : "";
    const total = pluralText(language, texts.payoutTotal, found.total);
    return html`${payoutTable(visit, found.payouts)}${cursorLinks(language, { path, query, next, total })}`;
  });
  return { title: texts.payouts, body: html`<h1>${texts.payouts}</h1>${body}` };
}

function payoutTable({ language, base }: MerchantVisit, payouts: readonly Payout[]): Html {
  const texts = textsOf(language).balance;
  return htmlTable({
    caption: texts.payouts,
    rows: payouts,
    empty: texts.noPayouts,
    columns: [
      {
        heading: texts.amount,
        isNumber: true,
        cell: ({ id, amount, currency }) =>
          html`<a href="${base}/payouts/${id}">${moneyText(language, amount, currency)}</a>`,
      },
      { heading: texts.status, cell: ({ status }) => payoutChip(language, status) },
      { heading: texts.arrives, cell: ({ arrivalDate }) => dayShown(language, arrivalDate) },
      { heading: texts.descriptor, cell: ({ statementDescriptor }) => statementDescriptor },
      { heading: texts.created, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
    ],
  });
}

function payoutChip(language: Language, status: string): Html {
  const { text, tone } = stateOf(language, "payoutStates", status);
  return toneChip(text, tone);
}

/** @throws Failure NOT_FOUND */
async function payoutOf({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Payout> {
  const { merchantId, environment } = visit;
  const { payout } = await peers.balance.getPayout({
    merchantId,
    environment,
    id: idParam(visit, "payoutId", "payout"),
  });
  if (!payout) throw new Failure("NOT_FOUND");
  return payout;
}

async function payoutPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base, merchantId, environment, may } = visit;
  const texts = textsOf(language).balance;
  const payout = await payoutOf(context, visit);
  const { id: payoutId, amount, currency } = payout;
  const title = fillText(texts.payoutOf, { amount: moneyText(language, amount, currency) });
  const query = queryOf(visit);
  const afterId = query.get("after") ?? "";
  const path = `${base}/payouts/${payoutId}`;
  const list = () =>
    context.peers.balance.listBalanceTransactions({ merchantId, environment, payoutId, limit: pageSize, afterId });
  const transactions = await loadSection(language, texts.transactions, list, (found) => {
    const next = found.hasMore ? found.transactions.at(-1)?.id : "";
    const total = pluralText(language, texts.total, found.total);
    const file = fillText(textsOf(language).payments.download, { payments: total });
    const download = html`<p><a class="button secondary" href="${path}/transactions.csv" download>${file}</a></p>`;
    return html`${transactionTable(visit, found.transactions, true)}${cursorLinks(language, { path, query, next, total })}
${found.total > 0n && may(exportRight) ? download : ""}`;
  });
  return {
    title,
    body: html`<div class="heading"><h1>${title}</h1>${payoutChip(language, payout.status)}</div>
<div class="panel">${payoutFacts(visit, payout)}</div><h2>${texts.transactions}</h2>
${payout.isReconciled ? "" : html`<p class="muted">${texts.notListed}</p>`}${transactions}`,
  };
}

function payoutFacts({ language }: MerchantVisit, payout: Payout): Html {
  const texts = textsOf(language).balance;
  const { unattributedAmount: rest, currency } = payout;
  return factList([
    [texts.arrives, dayShown(language, payout.arrivalDate)],
    [texts.descriptor, payout.statementDescriptor],
    [texts.failure, payout.failureMessage],
    [texts.unattributed, rest === 0n ? "" : moneyText(language, rest, currency)],
    [texts.created, dateTimeText(language, payout.createdAt)],
    [texts.id, renderCopyable(language, payout.id)],
    [texts.processorId, renderCopyable(language, payout.connectorRef)],
  ]);
}
