// Spans of many like requests as one table: each step that most of them have, in the order of its beginning, with
// medians.
import type { Collected } from "../harness/servers/otlp-collector.ts";

/** A step of a request. Milliseconds. */
export interface Step {
  readonly depth: number;
  /** Who does it, and what. */
  readonly what: string;
  /** After the request came: to the millisecond, as spans begin. */
  readonly at: number;
  readonly took: number;
  /** Without what it waited for in steps of its own. */
  readonly own: number;
  /** Of a statement: the server's part. */
  readonly atServer: number | undefined;
}

// A step that few requests have tells of what else went on.
const shareMin = 0.5;
const textMax = 90;
const spanTextMax = 1_000;
// Beginnings tell statements apart, and the server's statistics keep a longer text than a span does.
const plainMax = 300;

/** @param serverMs mean time of a statement at the server, by its text with every constant as `?` (plainStatement) */
export function stepsOf(spans: readonly Collected[], serverMs: ReadonlyMap<string, number>): Step[] {
  const traces = Map.groupBy(spans, ({ traceId }) => traceId);
  const found = new Map<string, { depth: number; what: string; sql: string; times: Times[] }>();
  for (const trace of traces.values()) {
    for (const { key, depth, span, times } of walk(trace)) {
      const step = found.get(key) ?? { depth, what: whatOf(span), sql: span.statement, times: [] };
      step.times.push(times);
      found.set(key, step);
    }
  }
  return [...found.values()]
    .filter(({ times }) => times.length >= shareMin * traces.size)
    .map(({ depth, what, sql, times }) => ({
      depth,
      what,
      at: median(times.map(({ at }) => at)),
      took: median(times.map(({ took }) => took)),
      own: median(times.map(({ own }) => own)),
      atServer: sql === "" ? undefined : serverMs.get(plainStatement(sql)),
    }));
}

/** Markdown. */
export function stepTable(name: string, steps: readonly Step[]): string {
  const ms = (n: number | undefined) => (n === undefined ? "" : n.toFixed(2));
  return [
    `| ${name}, ${steps.length} steps | at ms | took | own | at the server |`,
    "|---|---|---|---|---|",
    ...steps.map(
      ({ depth, what, at, took, own, atServer }) =>
        `| ${"· ".repeat(depth)}${what} | ${Math.round(at)} | ${ms(took)} | ${ms(own)} | ${ms(atServer)} |`,
    ),
  ].join("\n");
}

/** A statement's beginning with its constants as `?`: the server's statistics have numbers, and one for a list. */
export function plainStatement(text: string): string {
  return text
    .replace(/(?:\/\*.*?\*\/|\s)+/g, " ")
    .trim()
    .replace(/'[^']*'|\$\d+|\b\d+(?:\.\d+)?\b/g, "?")
    .replace(/\?(?: ?, ?\?)+|\? (?=\))/g, "?")
    .slice(0, plainMax);
}

interface Times {
  readonly at: number;
  readonly took: number;
  readonly own: number;
}

interface Visited {
  /** The names on the way to it, each with its number among its like. */
  readonly key: string;
  readonly depth: number;
  readonly span: Collected;
  readonly times: Times;
}

function walk(trace: readonly Collected[]): Visited[] {
  const ids = new Set(trace.map(({ spanId }) => spanId));
  const children = Map.groupBy(trace, ({ parentSpanId }) => (ids.has(parentSpanId) ? parentSpanId : ""));
  const roots = children.get("") ?? [];
  const beganMs = Math.min(...roots.map(({ startMs }) => startMs));
  const visited: Visited[] = [];
  const visit = (spans: readonly Collected[], path: string, depth: number) => {
    const seen = new Map<string, number>();
    for (const span of spans.toSorted((one, other) => one.startMs - other.startMs)) {
      const what = whatOf(span);
      const number = (seen.get(what) ?? 0) + 1;
      seen.set(what, number);
      const key = `${path}/${what}#${number}`;
      const below = children.get(span.spanId) ?? [];
      const took = span.endMs - span.startMs;
      visited.push({
        key,
        depth,
        span,
        times: { at: span.startMs - beganMs, took, own: took - coveredMs(span, below) },
      });
      visit(below, key, depth + 1);
    }
  };
  visit(roots, "", 0);
  return visited;
}

/** How much of the span's time is within any of these. */
function coveredMs(span: Collected, parts: readonly Collected[]): number {
  let [covered, until] = [0, span.startMs];
  for (const part of parts.toSorted((one, other) => one.startMs - other.startMs)) {
    const end = Math.min(part.endMs, span.endMs);
    covered += Math.max(0, end - Math.max(part.startMs, until));
    until = Math.max(until, end);
  }
  return covered;
}

function whatOf({ service, name, statement }: Collected): string {
  const who = service.replace("tollbooth-", "");
  if (statement === "") return `${who}: ${name}`;
  // A span cuts a long text, perhaps within a name.
  const text = statement.length < spanTextMax ? statement : statement.slice(0, statement.lastIndexOf(" "));
  const parts = tablesAfter(text, /\b([a-z_]+) as (?:not )?(?:materialized )?\(/g, []);
  const written = tablesAfter(text, /\b(?:insert into|(?<!do |for )update|delete from) ([a-z_]+)\b(?![(.])/g, parts);
  const read = tablesAfter(text, /\b(?:from|join) ([a-z_]+)\b(?![(.])/g, [...parts, ...written]);
  const said = [written.length > 0 && `write ${written.join(", ")}`, read.length > 0 && `read ${read.join(", ")}`];
  return `${who}: ${said.filter(Boolean).join("; ") || name}`.slice(0, textMax);
}

function tablesAfter(text: string, pattern: RegExp, without: readonly string[]): string[] {
  const names = [...text.matchAll(pattern)].map(([, name]) => name as string);
  return [...new Set(names)].filter((name) => !without.includes(name));
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
