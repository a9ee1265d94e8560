// Volume, payments, success rate and refunds of 1, 7 and 30 days by currency, and 30 days as an SVG bar chart without
// script or inline style. Sums are bigint.
import type { GetOverviewResponse, OverviewDay } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { dayText } from "../../../http/day.ts";
import type { MerchantVisit } from "../../../session/visit.ts";
import { fillText, type Language, textsOf } from "../../../texts/texts.ts";
import { htmlTable } from "../../../view/table.ts";
import { countText, dayShown, moneyText, shareText } from "../../../view/values.ts";

export const overviewDays = 30;
const dayMs = 86_400_000;

interface Period {
  readonly label: string;
  readonly days: number;
}

interface Sum {
  readonly captured: bigint;
  readonly payments: bigint;
  readonly refunded: bigint;
  readonly paid: bigint;
  readonly unpaid: bigint;
}

export function renderFigures({ language }: MerchantVisit, { days, today }: GetOverviewResponse): Html {
  const texts = textsOf(language).home;
  const all = [...Map.groupBy(days, ({ currency }) => currency)];
  if (all.length === 0) return html`<div class="empty"><p>${texts.noMoney}</p></div>`;
  // A currency in which payments only failed would be a panel of zeros.
  const moved = all.filter(([, found]) => found.some((day) => day.capturedAmount + day.refundedAmount !== 0n));
  const weight = (found: readonly OverviewDay[]) => sumOf(found).payments + sumOf(found).paid + sumOf(found).unpaid;
  const sorted = (moved.length === 0 ? all : moved).sort(([, a], [, b]) => Number(weight(b) - weight(a)));
  const panels = sorted.map(([currency, found], i) => panel(language, today, currency, found, i === 0));
  return html`${panels}<p class="hint">${texts.daysHint}</p>`;
}

function panel(
  language: Language,
  today: string,
  currency: string,
  found: readonly OverviewDay[],
  isFirst: boolean,
): Html {
  const texts = textsOf(language).home;
  const periods: Period[] = [
    { label: texts.today, days: 1 },
    { label: texts.week, days: 7 },
    { label: texts.month, days: 30 },
  ];
  const sums = periods.map(({ label, days }) => {
    const within = found.filter(({ day }) => day >= dayBefore(today, days - 1));
    return { label, days: within.length, sum: sumOf(within) };
  });
  // A longer period that adds no day would repeat the figures of the shorter one.
  const distinct = sums.filter(({ days }, i) => i === 0 || days > (sums[i - 1]?.days ?? 0));
  const cells = distinct.map(({ label, sum }) => {
    const names: [string, string][] = [
      [texts.payments, countText(language, sum.payments)],
      [texts.success, rate(language, sum)],
      [texts.refunds, moneyText(language, sum.refunded, currency)],
    ];
    return html`<div class="figure"><h3>${label}</h3><p class="figure-amount"><span class="visually-hidden">${texts.volume}</span> ${moneyText(language, sum.captured, currency)}</p>
<dl>${names.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></div>`;
  });
  return html`<section class="panel"><h2>${texts.volume} · ${currency}</h2><div class="figures">${cells}</div>
${isFirst ? renderChart(language, today, currency, found) : ""}${byDay(language, currency, found)}</section>`;
}

function byDay(language: Language, currency: string, found: readonly OverviewDay[]): Html {
  const texts = textsOf(language).home;
  return html`<details class="more"><summary>${texts.byDay}</summary>${htmlTable({
    caption: `${texts.byDay}, ${currency}`,
    rows: found.toReversed(),
    empty: texts.noMoney,
    columns: [
      { heading: texts.day, cell: ({ day }) => dayShown(language, day) },
      { heading: texts.volume, isNumber: true, cell: (row) => moneyText(language, row.capturedAmount, currency) },
      { heading: texts.payments, isNumber: true, cell: (row) => countText(language, row.capturedCount) },
      { heading: texts.success, isNumber: true, cell: (row) => rate(language, sumOf([row])) },
      { heading: texts.refunds, isNumber: true, cell: (row) => moneyText(language, row.refundedAmount, currency) },
    ],
  })}</details>`;
}

function sumOf(days: readonly OverviewDay[]): Sum {
  const sum = (of: (day: OverviewDay) => bigint) => days.reduce((all, day) => all + of(day), 0n);
  return {
    captured: sum(({ capturedAmount }) => capturedAmount),
    payments: sum(({ capturedCount }) => capturedCount),
    refunded: sum(({ refundedAmount }) => refundedAmount),
    paid: sum(({ paidCount }) => paidCount),
    unpaid: sum(({ unpaidCount }) => unpaidCount),
  };
}

/** Share of ended payments that were paid. */
function rate(language: Language, { paid, unpaid }: Sum): string {
  return shareText(language, paid, paid + unpaid);
}

function dayBefore(day: string, days: number): string {
  return dayText(Date.parse(`${day}T00:00:00Z`) - days * dayMs);
}

const days = 30;
const [width, height, gap] = [20, 100, 4];

function renderChart(language: Language, today: string, currency: string, found: readonly OverviewDay[]): Html {
  const texts = textsOf(language).home;
  const byDay = new Map(found.map((day) => [day.day, day]));
  let most = 1n;
  for (const { capturedAmount } of found) if (capturedAmount > most) most = capturedAmount;
  const total = found.reduce((sum, { capturedAmount }) => sum + capturedAmount, 0n);
  const todayMs = Date.parse(`${today}T00:00:00Z`);
  const bars = Array.from({ length: days }, (_, i) => {
    const day = dayText(todayMs - (days - 1 - i) * dayMs);
    const { capturedAmount = 0n, capturedCount = 0n } = byDay.get(day) ?? {};
    // A day with any amount gets a visible bar.
    const high = capturedAmount <= 0n ? 0 : Math.max(2, Number((capturedAmount * BigInt(height)) / most));
    const dayTitle = fillText(texts.chartDay, {
      day: dayName(language, day),
      amount: moneyText(language, capturedAmount, currency),
      count: countText(language, capturedCount),
    });
    return html`<g><title>${dayTitle}</title><rect class="bar-day" x="${i * width}" y="0" width="${width}" height="${height}"/><rect class="bar-value" x="${i * width + gap / 2}" y="${height - high}" width="${width - gap}" height="${high}"/></g>`;
  });
  return html`<svg class="chart" viewBox="0 0 ${days * width} ${height}" preserveAspectRatio="none" role="img" aria-label="${fillText(texts.chart, { currency, total: moneyText(language, total, currency) })}">${bars}</svg>
<p class="chart-ends"><span>${dayName(language, dayText(todayMs - (days - 1) * dayMs))}</span><span>${dayName(language, today)}</span></p>`;
}

function dayName(language: Language, day: string): string {
  const format = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", timeZone: "UTC" });
  return format.format(new Date(`${day}T00:00:00Z`));
}
