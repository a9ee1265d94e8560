// The minutes of a soak as a picture: four small charts one below the other, each with its lines named at their ends.
// SVG.
import type { Minute } from "./soak-table.ts";

interface Line {
  readonly name: string;
  readonly values: readonly number[];
}

const [width, chartHeight, left, right, top] = [860, 150, 48, 150, 34] as const;
const colours = ["#0b6e4f", "#b5402a", "#2456a6", "#8a5a00", "#6b3fa0", "#00788a", "#444444", "#a3126d"];

export function soakPicture(rows: readonly Minute[]): string {
  const named = (of: (row: Minute) => Readonly<Record<string, unknown>>) => Object.keys(rows[0] ? of(rows[0]) : {});
  const charts: readonly (readonly [string, readonly Line[]])[] = [
    [
      "p50 of each request, ms",
      named((row) => row.latencies).map((name) => ({
        name,
        values: rows.map((row) => row.latencies[name]?.p50Ms ?? 0),
      })),
    ],
    [
      "p99 of each request, ms",
      named((row) => row.latencies).map((name) => ({
        name,
        values: rows.map((row) => row.latencies[name]?.p99Ms ?? 0),
      })),
    ],
    [
      "resident memory, MB",
      named((row) => row.megabytes).map((name) => ({ name, values: rows.map((row) => row.megabytes[name] ?? 0) })),
    ],
    [
      "connections, dead rows in percent",
      [
        { name: "connections", values: rows.map((row) => row.connections) },
        { name: "dead rows", values: rows.map((row) => row.deadRows) },
      ],
    ],
  ];
  const drawn = charts.map(([title, lines], i) => chart(title, lines, i * (chartHeight + top)));
  const height = charts.length * (chartHeight + top) + 20;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="11">
<title>A soak of ${rows.length} minutes</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${drawn.join("\n")}
<text x="${left}" y="${height - 6}" fill="#555555">minute 1 to ${rows.length}</text>
</svg>
`;
}

function chart(title: string, lines: readonly Line[], y: number): string {
  const most = Math.max(1, ...lines.flatMap(({ values }) => values)) * 1.05;
  const [x0, x1, y0, y1] = [left, width - right, y + chartHeight + top - 14, y + top];
  const at = (i: number, n: number, value: number) =>
    `${(x0 + ((x1 - x0) * i) / Math.max(1, n - 1)).toFixed(1)},${(y0 - ((y0 - y1) * value) / most).toFixed(1)}`;
  // Names stand beside the ends of their lines, no two on one place.
  const ends = lines
    .map(({ name, values }, i) => ({ name, i, y: y0 - ((y0 - y1) * (values.at(-1) ?? 0)) / most }))
    .sort((a, b) => a.y - b.y);
  for (const [i, end] of ends.entries()) end.y = Math.max(end.y, (ends[i - 1]?.y ?? Number.NEGATIVE_INFINITY) + 12);
  return [
    `<text x="${left}" y="${y + 22}" font-weight="600" fill="#111111">${title}</text>`,
    `<path d="M${x0} ${y1}V${y0}H${x1}" fill="none" stroke="#bbbbbb"/>`,
    `<text x="${left - 6}" y="${y1 + 4}" text-anchor="end" fill="#555555">${Math.round(most)}</text>`,
    `<text x="${left - 6}" y="${y0}" text-anchor="end" fill="#555555">0</text>`,
    ...lines.map(({ values }, i) => {
      const points = values.map((value, k) => at(k, values.length, value)).join(" ");
      return `<polyline points="${points}" fill="none" stroke-width="1.5" stroke="${colourOf(i)}"/>`;
    }),
    ...ends.map((end) => `<text x="${x1 + 6}" y="${end.y + 4}" fill="${colourOf(end.i)}">${end.name}</text>`),
  ].join("\n");
}

function colourOf(i: number): string {
  return colours[i % colours.length] ?? "#000000";
}
