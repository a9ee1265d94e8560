// Reads a date as its first moment in a time zone (docs/contract.md §5, reports).
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { invalidField } from "#platform/values/failure.ts";
import { dayOrMomentProblem } from "../../http/own-formats.ts";
import { dayOrMomentOf } from "./time-bound.ts";

const dayMs = 86_400_000;

/** @throws Failure INVALID_BODY for an unknown zone. @returns the zone's local time of a moment, as if it were UTC */
export function localClock(field: string, timezone: string): (ms: number) => number {
  const parts = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" } as const;
  const options = { ...parts, second: "2-digit", hourCycle: "h23", timeZone: timezone, calendar: "iso8601" } as const;
  try {
    const format = new Intl.DateTimeFormat("sv-SE", options);
    return (ms) => Date.parse(`${format.format(ms).replace(" ", "T").padStart(19, "0")}Z`);
  } catch {
    throw invalidField(field, "must be an IANA time zone, such as Europe/Berlin");
  }
}

/** RFC 3339, or the first moment of a date in the zone. @throws Failure INVALID_BODY. */
export function momentIn(field: string, text: string, clock: ReturnType<typeof localClock>): Timestamp {
  const read = dayOrMomentOf(field, text);
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return read;
  const midnight = Number(read.seconds) * 1_000;
  // The offsets of the days around include both of a change of the clocks. An hour may be missing at midnight or come
  // twice: the earliest moment with this date counts.
  const offsets = [midnight - dayMs, midnight + dayMs].map((ms) => clock(ms) - ms).filter(Number.isFinite);
  const moments = offsets.map((offset) => midnight - offset).filter((ms) => clock(ms) >= midnight);
  // At an end of the calendar.
  if (moments.length === 0) throw invalidField(field, dayOrMomentProblem);
  return { ...read, seconds: BigInt(Math.min(...moments)) / 1_000n };
}
