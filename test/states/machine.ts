// A state machine as docs show it: a table of its moves, and a picture. Both are generated from the rules' answers.

export interface Move {
  readonly from: string;
  /** The report or action, in words. */
  readonly on: string;
  readonly to: string;
  /** Types of the events that merchants get. */
  readonly events: readonly string[];
}

export interface Machine {
  /** Of the file and the heading: `payment`. */
  readonly name: string;
  /** The text above the table. */
  readonly about: string;
  /** In the order in which the picture has them, each with its meaning for a merchant; empty: in `about`. */
  readonly states: Readonly<Record<string, string>>;
  readonly moves: readonly Move[];
}

/** The machine's part of the page. */
export function sectionOf({ name, about, moves, states }: Machine): string {
  const order = (state: string) => Object.keys(states).indexOf(state);
  const sorted = [...moves].sort((a, b) => order(a.from) - order(b.from) || order(a.to) - order(b.to));
  const byMove = Map.groupBy(sorted, ({ from, to }) => `${from} ${to}`);
  const rows = [...byMove.values()].map((same) => {
    const [{ from = "", to = "" } = {}] = same;
    const events = [...new Set(same.flatMap((move) => move.events))].map((type) => `\`${type}\``);
    return { from, to, when: same.map(({ on }) => on).join("; "), events: events.join(", ") };
  });
  const lines = merged(merged(rows, "to"), "from").map(
    ({ from, to, when, events }) => `| ${from} | ${when} | ${to} | ${events} |`,
  );
  const meanings = Object.entries(states).filter(([, means]) => means !== "");
  const statuses = [
    "| Status | Means |",
    "|---|---|",
    ...meanings.map(([state, means]) => `| \`${state}\` | ${means} |`),
  ];
  const head = "| From | When | To | Merchant events |\n|---|---|---|---|";
  const parts = [about, ...(meanings.length > 0 ? [statuses.join("\n")] : []), `![${name}](states/${name}.svg)`];
  const title = `${name[0]?.toUpperCase()}${name.slice(1)} status`;
  return `## ${title}\n\n${parts.join("\n\n")}\n\n${head}\n${lines.join("\n")}\n`;
}

interface Row {
  readonly from: string;
  readonly to: string;
  readonly when: string;
  readonly events: string;
}

/** Rows that differ in one column only, as one row. */
function merged(rows: readonly Row[], column: "from" | "to"): Row[] {
  const byRest = Map.groupBy(rows, (row) => JSON.stringify({ ...row, [column]: "" }));
  return [...byRest.values()].flatMap((same) => {
    const [first] = same;
    return first ? [{ ...first, [column]: same.map((row) => row[column]).join(", ") }] : [];
  });
}

const width = 640;
const height = 380;
const boxHeight = 30;
const letterWidth = 7.4;

/** The machine's picture: its states on an ellipse, an arrow for each pair that a move joins. */
export function pictureOf({ name, states, moves }: Machine): string {
  const names = Object.keys(states);
  const centers = new Map(
    names.map((state, i) => {
      const angle = (2 * Math.PI * i) / names.length - Math.PI / 2;
      return [state, { x: width / 2 + 235 * Math.cos(angle), y: height / 2 + 155 * Math.sin(angle) }] as const;
    }),
  );
  const pairs = new Set(moves.filter(({ from, to }) => from !== to).map(({ from, to }) => `${from} ${to}`));
  const arrows = [...pairs].map((pair) => {
    const [from = "", to = ""] = pair.split(" ");
    return arrow(centers.get(from) ?? middle, centers.get(to) ?? middle, boxWidth(from), boxWidth(to));
  });
  const boxes = [...centers].map(([state, { x, y }]) => {
    const w = boxWidth(state);
    const rect = `<rect x="${n(x - w / 2)}" y="${n(y - boxHeight / 2)}" width="${n(w)}" height="${boxHeight}" rx="8"/>`;
    return `${rect}<text x="${n(x)}" y="${n(y + 4.5)}">${state}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="States of a ${name}">
<style>rect{fill:#f4f6fb;stroke:#4b5a78}text{font:13px system-ui,sans-serif;text-anchor:middle;fill:#1b2437}path{fill:none;stroke:#7b8aa8}</style>
<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" style="fill:#7b8aa8;stroke:none"/></marker></defs>
<rect width="${width}" height="${height}" style="fill:#fff;stroke:none"/>
${arrows.join("\n")}
${boxes.join("\n")}
</svg>
`;
}

interface Point {
  readonly x: number;
  readonly y: number;
}
const middle: Point = { x: width / 2, y: height / 2 };

/** Bent to its right, so that the way there and the way back are two lines. */
function arrow(a: Point, b: Point, aWidth: number, bWidth: number): string {
  const bend = { x: (a.x + b.x) / 2 - (b.y - a.y) * 0.12, y: (a.y + b.y) / 2 + (b.x - a.x) * 0.12 };
  const [start, end] = [edgeOf(a, bend, aWidth), edgeOf(b, bend, bWidth)];
  return `<path d="M${n(start.x)} ${n(start.y)}Q${n(bend.x)} ${n(bend.y)} ${n(end.x)} ${n(end.y)}" marker-end="url(#end)"/>`;
}

/** Where the line from a box's middle to the point leaves the box. */
function edgeOf(box: Point, to: Point, boxWide: number): Point {
  const [dx, dy] = [to.x - box.x, to.y - box.y];
  const share = Math.min((boxWide / 2 + 2) / Math.abs(dx || 1e-9), (boxHeight / 2 + 2) / Math.abs(dy || 1e-9));
  return { x: box.x + dx * share, y: box.y + dy * share };
}

function boxWidth(state: string): number {
  return state.length * letterWidth + 20;
}

function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}
