// Splits a range of time into whole UTC days or weeks, whose rows are counted already, and what is left at its ends.

/** From (included) to (excluded), as timestamps that PostgreSQL reads; `-infinity` and `infinity` where nothing bounds it. */
export interface TimeRange {
  readonly from: string;
  readonly to: string;
}

/** A range in parts. */
export interface SplitRange {
  /** Whole days or weeks; `from` = `to`: none. */
  readonly whole: TimeRange;
  /** At most two, each shorter than a day or a week and a half. */
  readonly rests: readonly TimeRange[];
}

const dayMs = 86_400_000;
// 1970-01-05 was a Monday.
const mondayMs = 4 * dayMs;

/**
 * The rows that were created within a list's bounds. The API shows milliseconds, so a row belongs to its upper bound when it was
 * created within that millisecond, and the last millisecond of a day is the end of the day.
 * @param from @param to both included; undefined: unbounded
 */
export function timeRange(from: Date | undefined, to: Date | undefined): TimeRange {
  return {
    from: from?.toISOString() ?? "-infinity",
    to: to ? new Date(to.getTime() + 1).toISOString() : "infinity",
  };
}

/** @param unit of what is counted; weeks begin on Monday */
export function splitRange(range: TimeRange, unit: "day" | "week"): SplitRange {
  const [lengthMs, offsetMs] = unit === "day" ? [dayMs, 0] : [7 * dayMs, mondayMs];
  const align = (time: string, round: (x: number) => number) => {
    if (time.endsWith("infinity")) return time;
    return new Date(round((Date.parse(time) - offsetMs) / lengthMs) * lengthMs + offsetMs).toISOString();
  };
  const from = align(range.from, Math.ceil);
  const to = align(range.to, Math.floor);
  if (before(to, from)) return { whole: { from: range.from, to: range.from }, rests: [range] };
  const rests = [
    { from: range.from, to: from },
    { from: to, to: range.to },
  ].filter((rest) => before(rest.from, rest.to));
  return { whole: { from, to }, rests };
}

function before(a: string, b: string): boolean {
  return moment(a) < moment(b);
}

function moment(time: string): number {
  return time === "-infinity"
    ? Number.NEGATIVE_INFINITY
    : time === "infinity"
      ? Number.POSITIVE_INFINITY
      : Date.parse(time);
}
