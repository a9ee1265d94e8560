// Splits a time range into whole UTC days, which are counted already, and the remainders. Pure.

/** From (inclusive) to (exclusive), as PostgreSQL timestamps; `-infinity` and `infinity` when unbounded. */
export interface TimeRange {
  readonly from: string;
  readonly to: string;
}

interface SplitRange {
  /** Whole days; empty when `from` equals `to`. */
  readonly whole: TimeRange;
  /** At most two, each shorter than two days. */
  readonly remainders: readonly TimeRange[];
}

export const dayMs = 86_400_000;
// Bounds may be earlier; PostgreSQL does not read JavaScript's format of five-digit years.
const year10000Ms = Date.UTC(10_000, 0);

/**
 * Creation times within a list's bounds. The API shows milliseconds, so a row from within the upper bound's millisecond
 * is included, and a day's last millisecond is the day's end.
 * @param from @param to both inclusive; undefined when unbounded
 */
export function timeRange(from: Date | undefined, to: Date | undefined): TimeRange {
  return {
    from: from?.toISOString() ?? "-infinity",
    to: to ? new Date(to.getTime() + 1).toISOString() : "infinity",
  };
}

export function splitRange(range: TimeRange): SplitRange {
  const whole = { from: alignTime(range.from, Math.ceil, dayMs), to: alignTime(range.to, Math.floor, dayMs) };
  if (isBefore(whole.to, whole.from)) return { whole: { from: range.from, to: range.from }, remainders: [range] };
  return { whole, remainders: someOf({ from: range.from, to: whole.from }, { from: whole.to, to: range.to }) };
}

/** @param originMs start of one of the units */
export function alignTime(time: string, round: (x: number) => number, unitMs: number, originMs = 0): string {
  if (time.endsWith("infinity")) return time;
  const ms = round((Date.parse(time) - originMs) / unitMs) * unitMs + originMs;
  return ms < year10000Ms ? new Date(ms).toISOString() : "infinity";
}

/** The ranges that are not empty. */
export function someOf(...ranges: readonly TimeRange[]): TimeRange[] {
  return ranges.filter((range) => isBefore(range.from, range.to));
}

export function isBefore(a: string, b: string): boolean {
  return timeOf(a) < timeOf(b);
}

function timeOf(time: string): number {
  return time === "-infinity"
    ? Number.NEGATIVE_INFINITY
    : time === "infinity"
      ? Number.POSITIVE_INFINITY
      : Date.parse(time);
}
