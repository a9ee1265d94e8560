// The balance by currency, its pending part by day, and the newest balance transactions.
import type { CurrencyBalance, GetBalanceResponse, PendingDay } from "#proto/payments/v1/balance_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { type Language, pluralText, textsOf } from "../../../texts/texts.ts";
import { cursorLinks } from "../../../view/pieces.ts";
import { loadSection } from "../../../view/section.ts";
import { htmlTable } from "../../../view/table.ts";
import { dayShown, moneyText } from "../../../view/values.ts";
import { transactionTable } from "./transactions.ts";

const pageSize = 50;

export function balanceRoutes(context: ConsoleContext): void {
  merchantPage(context, "/balance", "payments.read", (visit) => balancePage(context, visit));
}

async function balancePage({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base, merchantId, environment } = visit;
  const texts = textsOf(language).balance;
  const query = queryOf(visit);
  const afterId = query.get("after") ?? "";
  const list = () => peers.balance.listBalanceTransactions({ merchantId, environment, limit: pageSize, afterId });
  const [balances, transactions] = await Promise.all([
    loadSection(
      language,
      texts.title,
      () => peers.balance.getBalance({ merchantId, environment }),
      (found) => renderBalances(visit, found),
    ),
    loadSection(language, texts.transactions, list, (found) => {
      const next = found.hasMore ? found.transactions.at(-1)?.id : "";
      const total = pluralText(language, texts.total, found.total);
      return html`${transactionTable(visit, found.transactions)}${cursorLinks(language, { path: `${base}/balance`, query, next, total })}`;
    }),
  ]);
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1>${balances}<h2>${texts.transactions}</h2>${transactions}`,
  };
}

function renderBalances({ language }: MerchantVisit, { balances, pendingDays }: GetBalanceResponse): Html {
  const texts = textsOf(language).balance;
  if (balances.length === 0) return html`<div class="empty"><p>${texts.none}</p></div>`;
  const panels = balances.map((balance) => {
    const days = pendingDays.filter(({ currency }) => currency === balance.currency);
    return html`<section class="panel"><h2>${balance.currency}</h2>${renderAmounts(language, balance)}
${days.length === 0 ? "" : renderDays(language, days)}</section>`;
  });
  return html`${panels}<p class="hint">${texts.hint}</p>`;
}

/** Reserve and platform fees are shown where there are some. */
export function renderAmounts(language: Language, balance: CurrencyBalance): Html {
  const texts = textsOf(language).balance;
  const { available, pending, reserved, feesDue, currency } = balance;
  const amounts: (readonly [string, bigint])[] = [
    [texts.available, available],
    [texts.pending, pending],
    ...(reserved === 0n ? [] : [[texts.reserved, reserved] as const]),
    ...(feesDue === 0n ? [] : [[texts.feesDue, feesDue] as const]),
  ];
  const figures = amounts.map(
    ([name, amount]) =>
      html`<div class="figure"><h3>${name}</h3><p class="figure-amount">${moneyText(language, amount, currency)}</p></div>`,
  );
  return html`<div class="figures">${figures}</div>`;
}

/** Of the home page: the balance and the payout that arrives next. Empty before the first balance transaction. */
export async function renderHomeBalance({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Html | string> {
  const { language, base, merchantId, environment } = visit;
  const texts = textsOf(language).balance;
  const owner = { merchantId, environment };
  const load = async () =>
    await Promise.all([
      peers.balance.getBalance(owner),
      peers.balance.listPayouts({ ...owner, status: "in_transit", limit: 1 }),
    ]);
  return await loadSection(language, texts.title, load, ([{ balances }, { payouts }]) => {
    if (balances.length === 0) return "";
    const panels = balances.map(
      (balance) =>
        html`<section class="panel"><h2><a href="${base}/balance">${texts.title}</a> · ${balance.currency}</h2>${renderAmounts(language, balance)}</section>`,
    );
    const [next] = payouts;
    const line = next
      ? html`<p>${texts.next}: <a href="${base}/payouts/${next.id}">${moneyText(language, next.amount, next.currency)}</a>, ${dayShown(language, next.arrivalDate)}</p>`
      : "";
    return html`${panels}${line}`;
  });
}

function renderDays(language: Language, days: readonly PendingDay[]): Html {
  const texts = textsOf(language).balance;
  return html`<details class="more"><summary>${texts.byDay}</summary>${htmlTable({
    caption: texts.byDay,
    rows: days,
    empty: "",
    columns: [
      { heading: texts.day, cell: ({ day }) => dayShown(language, day) },
      { heading: texts.amount, isNumber: true, cell: ({ amount, currency }) => moneyText(language, amount, currency) },
    ],
  })}</details>`;
}
