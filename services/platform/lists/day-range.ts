// A range of time as whole UTC days or weeks, whose rows are counted already, and what makes the difference at its
// ends.

/**
 * From (included) to (excluded), as timestamps that PostgreSQL reads; `-infinity` and `infinity` where nothing bounds
 * it.
 */
export interface TimeRange {
  readonly from: string;
  readonly to: string;
}

/** A range in parts. */
export interface SplitRange {
  /** Whole days; `from` = `to`: none. */
  readonly whole: TimeRange;
  /** At most two, each shorter than two days. */
  readonly remainders: readonly TimeRange[];
}

/** A range as whole weeks, and what makes the difference. */
export interface NearestWeeks {
  /** From Monday to Monday; `from` = `to`: none. */
  readonly whole: TimeRange;
  /** Belongs to the range and lies outside of the weeks. */
  readonly added: readonly TimeRange[];
  /** Lies within the weeks and does not belong to the range. */
  readonly removed: readonly TimeRange[];
}

const dayMs = 86_400_000;
// 1970-01-05 was a Monday.
const mondayMs = 4 * dayMs;
// Bounds may lie shortly before; PostgreSQL does not read five-digit years as JavaScript writes them.
const year10000Ms = Date.UTC(10_000, 0);

/**
 * The rows that were created within a list's bounds. The API shows milliseconds, so a row belongs to its upper bound
 * when it was created within that millisecond, and the last millisecond of a day is the end of the day.
 * @param from @param to both included; undefined: unbounded
 */
export function timeRange(from: Date | undefined, to: Date | undefined): TimeRange {
  return {
    from: from?.toISOString() ?? "-infinity",
    to: to ? new Date(to.getTime() + 1).toISOString() : "infinity",
  };
}

/** Whole days within the range, and the rest of it. */
export function splitRange(range: TimeRange): SplitRange {
  const whole = { from: align(range.from, Math.ceil, dayMs), to: align(range.to, Math.floor, dayMs) };
  if (isBefore(whole.to, whole.from)) return { whole: { from: range.from, to: range.from }, remainders: [range] };
  return { whole, remainders: someOf({ from: range.from, to: whole.from }, { from: whole.to, to: range.to }) };
}

/** The weeks whose ends are nearest to the range's: at most half a week makes the difference at either end. */
export function nearestWeeks(range: TimeRange): NearestWeeks {
  const weekMs = 7 * dayMs;
  const whole = {
    from: align(range.from, Math.round, weekMs, mondayMs),
    to: align(range.to, Math.round, weekMs, mondayMs),
  };
  if (!isBefore(whole.from, whole.to)) {
    return { whole: { from: range.from, to: range.from }, added: someOf(range), removed: [] };
  }
  return {
    whole,
    added: someOf({ from: range.from, to: whole.from }, { from: whole.to, to: range.to }),
    removed: someOf({ from: whole.from, to: range.from }, { from: range.to, to: whole.to }),
  };
}

/** @param originMs where one of the units begins */
function align(time: string, round: (x: number) => number, unitMs: number, originMs = 0): string {
  if (time.endsWith("infinity")) return time;
  const ms = round((Date.parse(time) - originMs) / unitMs) * unitMs + originMs;
  return ms < year10000Ms ? new Date(ms).toISOString() : "infinity";
}

/** Those that are not empty. */
function someOf(...ranges: readonly TimeRange[]): TimeRange[] {
  return ranges.filter((range) => isBefore(range.from, range.to));
}

function isBefore(a: string, b: string): boolean {
  return timeOf(a) < timeOf(b);
}

function timeOf(time: string): number {
  return time === "-infinity"
    ? Number.NEGATIVE_INFINITY
    : time === "infinity"
      ? Number.POSITIVE_INFINITY
      : Date.parse(time);
}
