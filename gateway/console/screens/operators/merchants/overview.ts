// The operators' first page: volume, success, refunds, disputes and failed deliveries of the last days, by merchant and
// by processor. A part whose service is down is named, and the rest is shown.
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Figures, GetInstallationOverviewResponse } from "#proto/payments/v1/operator_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { dayStart, dayText } from "../../../http/day.ts";
import { operatorPage } from "../../../routes.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { merchantLink, partLinks } from "../../../view/operator-forms.ts";
import { withFilter } from "../../../view/pieces.ts";
import { loadSection, renderMissing, unlessAway } from "../../../view/section.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { countText, moneyText, shareText } from "../../../view/values.ts";
import { merchantNames } from "./find-merchant.ts";

const path = "/overview";
const dayMs = 86_400_000;
// The service lists no more.
const merchantsMax = 50;
const periods = [
  ["1", "today"],
  ["7", "week"],
  ["30", "month"],
] as const;

interface Scope {
  readonly environment: Environment;
  readonly days: number;
  readonly currency: string;
}

export function overviewRoutes(context: ConsoleContext): void {
  operatorPage(context, path, "merchants.read", (visit) => overviewPage(context, visit));
}

async function overviewPage(context: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).overview;
  const scope = scopeOf(queryOf(visit));
  const load = () => context.peers.operations.getInstallationOverview(scope);
  const shown = await loadSection(
    language,
    texts.title,
    () => loadFigures(context, load, scope),
    (found) => renderOverview(visit, found),
  );
  return { title: texts.title, body: html`<h1>${texts.title}</h1>${periodLinks(visit, scope)}${shown}` };
}

function scopeOf(query: URLSearchParams): Scope {
  const days = Number(periods.find(([value]) => value === query.get("days"))?.[0] ?? 7);
  const currency = /^[A-Z]{3}$/.exec(query.get("currency") ?? "")?.[0] ?? "";
  return {
    days,
    currency,
    environment: query.get("environment") === "sandbox" ? Environment.SANDBOX : Environment.LIVE,
  };
}

interface Found extends GetInstallationOverviewResponse {
  readonly names: ReadonlyMap<string, string>;
  /** Undefined during an outage. */
  readonly failed: Readonly<Record<string, bigint>> | undefined;
}

async function loadFigures(
  context: ConsoleContext,
  load: () => Promise<GetInstallationOverviewResponse>,
  { environment, days }: Scope,
): Promise<Found> {
  const found = await load();
  const merchantIds = found.merchants.map(({ merchantId }) => merchantId);
  const since = dayStart(dayText(Date.now() - (days - 1) * dayMs)) ?? timestampFromMs(Date.now());
  const count = async () =>
    merchantIds.length === 0
      ? {}
      : (await context.peers.webhooks.countFailedDeliveries({ environment, merchantIds, since })).failed;
  const [names, failed] = await Promise.all([merchantNames(context, merchantIds), unlessAway(count)]);
  return { ...found, names, failed: failed?.value };
}

function periodLinks(visit: OperatorVisit, { environment, days }: Scope): Html {
  const [texts, forms] = [textsOf(visit.language).home, textsOf(visit.language).operatorForms];
  const query = queryOf(visit);
  const isLive = environment === Environment.LIVE;
  const at = (changes: Readonly<Record<string, string>>) => withFilter(path, query, changes);
  const environments = [
    [at({ environment: "" }), forms.live, isLive],
    [at({ environment: "sandbox" }), forms.sandbox, !isLive],
  ] as const;
  const links = periods.map(([value, name]) => [at({ days: value }), texts[name], Number(value) === days] as const);
  return html`${partLinks(forms.environment, environments)}${partLinks(textsOf(visit.language).overview.period, links)}`;
}

function renderOverview(visit: OperatorVisit, found: Found): Html {
  const { language } = visit;
  const texts = textsOf(language).overview;
  const { currency, currencies, total, failed, merchants } = found;
  if (currency === "" || !total) return html`<div class="empty"><p>${textsOf(language).home.noMoney}</p></div>`;
  const query = queryOf(visit);
  const links = currencies.map(
    (each) => [withFilter(path, query, { currency: each }), each, each === currency] as const,
  );
  const failures = Object.values(failed ?? {}).reduce((sum, n) => sum + n, 0n);
  const isCut = merchants.length >= merchantsMax;
  return html`${partLinks(textsOf(language).words.currency, links)}
${renderTotals(visit, found, total, failed ? countText(language, failures) : "–")}
<h2>${texts.merchants}</h2>${isCut ? html`<p class="muted">${texts.topMerchants}</p>` : ""}${merchantTable(visit, found)}
${failed ? "" : renderMissing(language, texts.failedDeliveries)}
<h2>${texts.processors}</h2>${processorTable(visit, found)}
<p class="hint">${textsOf(language).home.daysHint}</p>`;
}

function renderTotals({ language }: OperatorVisit, { currency }: Found, total: Figures, failed: string): Html {
  const [texts, home] = [textsOf(language).overview, textsOf(language).home];
  const rows = [
    [home.payments, countText(language, total.capturedCount)],
    [home.success, shareText(language, total.paidCount, total.paidCount + total.unpaidCount)],
    [home.refunds, moneyText(language, total.refundedAmount, currency)],
    [texts.disputes, disputesText(language, total, currency)],
    [texts.failedDeliveries, failed],
  ] as const;
  return html`<section class="panel"><h2>${home.volume} · ${currency}</h2><p class="figure-amount">${moneyText(language, total.capturedAmount, currency)}</p>${factList(rows)}</section>`;
}

function merchantTable(visit: OperatorVisit, { merchants, names, currency, failed }: Found): Html {
  const { language } = visit;
  const [texts, home] = [textsOf(language).overview, textsOf(language).home];
  const number = { isNumber: true } as const;
  const rows = merchants.flatMap(({ merchantId, figures }) => (figures ? [{ merchantId, ...figures }] : []));
  return htmlTable({
    caption: texts.merchants,
    rows,
    empty: home.noMoney,
    columns: [
      { heading: texts.merchant, cell: ({ merchantId }) => merchantLink(visit, merchantId, names) },
      { heading: home.volume, ...number, cell: (row) => moneyText(language, row.capturedAmount, currency) },
      { heading: home.payments, ...number, cell: (row) => countText(language, row.capturedCount) },
      {
        heading: home.success,
        ...number,
        cell: (row) => shareText(language, row.paidCount, row.paidCount + row.unpaidCount),
      },
      { heading: home.refunds, ...number, cell: (row) => moneyText(language, row.refundedAmount, currency) },
      { heading: texts.disputes, ...number, cell: (row) => disputesText(language, row, currency) },
      {
        ...{ heading: texts.failedDeliveries, ...number },
        cell: ({ merchantId }) => (failed ? countText(language, failed[merchantId] ?? 0n) : "–"),
      },
    ],
  });
}

function processorTable({ language }: OperatorVisit, { connectors, currency }: Found): Html {
  const [texts, home] = [textsOf(language).overview, textsOf(language).home];
  const number = { isNumber: true } as const;
  const rows = connectors.flatMap(({ connector, figures }) => (figures ? [{ connector, ...figures }] : []));
  return htmlTable({
    caption: texts.processors,
    rows,
    empty: home.noMoney,
    columns: [
      { heading: texts.processor, cell: ({ connector }) => translateCode(language, "processorNames", connector) },
      { heading: texts.ended, ...number, cell: (row) => countText(language, row.paidCount + row.unpaidCount) },
      {
        heading: home.success,
        ...number,
        cell: (row) => shareText(language, row.paidCount, row.paidCount + row.unpaidCount),
      },
      { heading: texts.disputes, ...number, cell: (row) => disputesText(language, row, currency) },
    ],
  });
}

function disputesText(
  language: OperatorVisit["language"],
  { disputeCount, disputedAmount }: Pick<Figures, "disputeCount" | "disputedAmount">,
  currency: string,
): string {
  const count = countText(language, disputeCount);
  return disputeCount === 0n ? count : `${count} · ${moneyText(language, disputedAmount, currency)}`;
}
