// Draws 30 days as an SVG bar chart without script or inline style. A tooltip shows day and amount, as the table does.
import type { OverviewDay } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { dayText } from "../../../http/day.ts";
import { fill, type Language, textsOf } from "../../../texts/texts.ts";
import { count, money } from "../../../view/values.ts";

const dayMs = 86_400_000;
const days = 30;
// Units of the view box.
const [width, height, gap] = [20, 100, 4];

export function renderChart(language: Language, today: string, currency: string, found: readonly OverviewDay[]): Html {
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
    const dayTitle = fill(texts.chartDay, {
      day: dayName(language, day),
      amount: money(language, capturedAmount, currency),
      count: count(language, capturedCount),
    });
    return html`<g><title>${dayTitle}</title><rect class="bar-day" x="${i * width}" y="0" width="${width}" height="${height}"/><rect class="bar-value" x="${i * width + gap / 2}" y="${height - high}" width="${width - gap}" height="${high}"/></g>`;
  });
  return html`<svg class="chart" viewBox="0 0 ${days * width} ${height}" preserveAspectRatio="none" role="img" aria-label="${fill(texts.chart, { currency, total: money(language, total, currency) })}">${bars}</svg>
<p class="chart-ends"><span>${dayName(language, dayText(todayMs - (days - 1) * dayMs))}</span><span>${dayName(language, today)}</span></p>`;
}

function dayName(language: Language, day: string): string {
  const format = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", timeZone: "UTC" });
  return format.format(new Date(`${day}T00:00:00Z`));
}
