// Time bounds of lists: RFC 3339 or YYYY-MM-DD (docs/contract.md §1). A date is its whole UTC day (§5).
import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { Type } from "typebox";
import { invalidField } from "#platform/values/failure.ts";
import { dayOrMoment, dayOrMomentProblem, momentProblem, timeProblem } from "../../http/own-formats.ts";

const boundSchema = (what: string, moment: string, example: string) =>
  Type.Optional(
    Type.String({
      format: dayOrMoment,
      maxLength: 40,
      description: `${what}: RFC 3339 or YYYY-MM-DD (the day's ${moment} moment, UTC).`,
      examples: [example],
    }),
  );

export const timeBoundQuery = {
  from: boundSchema("Created at or after", "first", "2025-11-01"),
  to: boundSchema("Created before or at", "last", "2025-11-30"),
};

export const capturedBoundQuery = {
  captured_from: boundSchema("Captured at or after", "first", "2025-11-01"),
  captured_to: boundSchema("Captured before or at", "last", "2025-11-30"),
};

const nanosPerSecond = 1_000_000_000n;
const nanosPerMs = 1_000_000n;
const dayNanos = 86_400n * nanosPerSecond;

/**
 * Reads `from` and `to`. @throws Failure INVALID_BODY for a bad time, or a range that ends before it begins.
 */
export function timeBounds(query: { from?: string; to?: string }): { from?: Timestamp; to?: Timestamp } {
  return boundsOf(query, "from", "to");
}

export function capturedBounds(query: { captured_from?: string; captured_to?: string }) {
  const { captured_from: first, captured_to: last } = query;
  const { from, to } = boundsOf(
    { ...(first !== undefined && { from: first }), ...(last !== undefined && { to: last }) },
    "captured_from",
    "captured_to",
  );
  return { ...(from && { capturedFrom: from }), ...(to && { capturedTo: to }) };
}

function boundsOf(
  bounds: { from?: string; to?: string },
  fromName: string,
  toName: string,
): { from?: Timestamp; to?: Timestamp } {
  const from = bounds.from === undefined ? undefined : nanosOf(fromName, bounds.from, 0n);
  const to = bounds.to === undefined ? undefined : nanosOf(toName, bounds.to, dayNanos - 1n);
  if (from !== undefined && to !== undefined && from > to)
    throw invalidField(fromName, `must not be later than ${toName}`);
  return { ...(from !== undefined && { from: timestamp(from) }), ...(to !== undefined && { to: timestamp(to) }) };
}

/** `timeBounds` with an exclusive end, for services that count in milliseconds. */
export function timeRange(query: { from?: string; to?: string }): { since?: Timestamp; until?: Timestamp } {
  const { from, to } = timeBounds(query);
  const next = to && timestamp(to.seconds * nanosPerSecond + BigInt(to.nanos) + nanosPerMs);
  return { ...(from && { since: from }), ...(next && { until: next }) };
}

/** Reads RFC 3339. @throws Failure INVALID_BODY. */
export function momentOf(field: string, text: string): Timestamp {
  const nanos = instant(text);
  if (nanos === undefined) throw invalidField(field, timeProblem(text, momentProblem));
  return timestamp(nanos);
}

/** Reads RFC 3339, or a date as its first moment. @throws Failure INVALID_BODY. */
export function dayOrMomentOf(field: string, text: string): Timestamp {
  return timestamp(nanosOf(field, text, 0n));
}

const dateOnly = /^(\d{4})-(\d\d)-(\d\d)$/;
const rfc3339 = /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

function nanosOf(field: string, text: string, restOfDay: bigint): bigint {
  const nanos = dateOnly.test(text) ? dayStart(text) : instant(text);
  if (nanos === undefined) throw invalidField(field, timeProblem(text, dayOrMomentProblem));
  return dateOnly.test(text) ? nanos + restOfDay : nanos;
}

/** First moment of a day; undefined for an impossible date. Year 0 is outside protobuf's range. */
function dayStart(date: string): bigint | undefined {
  const parsed = new Date(`${date}T00:00:00.000Z`);
  if (Number.isNaN(parsed.getTime()) || date < "0001-01-02" || date > "9999-12-30") return undefined;
  // Date parses February 30 as March 2.
  return parsed.toISOString().startsWith(date) ? BigInt(parsed.getTime()) * 1_000_000n : undefined;
}

function instant(text: string): bigint | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
  const [, date = "", hour, minute, second, fraction = "", sign, offsetHour = "0", offsetMinute = "0"] = match;
  const [h, m, s, oh, om] = [hour, minute, second, offsetHour, offsetMinute].map(Number);
  if (h === undefined || m === undefined || s === undefined || oh === undefined || om === undefined) return undefined;
  const day = dayStart(date);
  if (day === undefined || h > 23 || m > 59 || s > 59 || oh > 23 || om > 59) return undefined;
  const offset = (sign === "-" ? -1 : 1) * (oh * 3_600 + om * 60);
  const seconds = BigInt(h * 3_600 + m * 60 + s - offset);
  return day + seconds * nanosPerSecond + BigInt(fraction.padEnd(9, "0"));
}

function timestamp(nanos: bigint): Timestamp {
  const remainder = ((nanos % nanosPerSecond) + nanosPerSecond) % nanosPerSecond;
  return create(TimestampSchema, { seconds: (nanos - remainder) / nanosPerSecond, nanos: Number(remainder) });
}
