import assert from "node:assert/strict";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import { suite } from "../../../test/harness/suite.ts";
import { dayOrMoment, formatProblem } from "../../http/own-formats.ts";
import { momentOf, timeBounds } from "./time-bound.ts";

const test = suite("time bounds");
const iso = (text: string) => timestampDate(momentOf("at", text)).toISOString();

test("reads RFC 3339 with offset and fraction", () => {
  assert.equal(iso("2025-11-21T08:30:00Z"), "2025-11-21T08:30:00.000Z");
  assert.equal(iso("2025-11-21t08:30:00.123456789z"), "2025-11-21T08:30:00.123Z");
  assert.equal(iso("2025-11-21T00:30:00+01:00"), "2025-11-20T23:30:00.000Z");
  assert.equal(iso("2025-12-31T23:30:00-00:45"), "2026-01-01T00:15:00.000Z");
  assert.equal(iso("1969-12-31T23:59:59.5Z"), "1969-12-31T23:59:59.500Z");
  assert.equal(momentOf("at", "2025-11-21T08:30:00.000000001Z").nanos, 1);
});

test("reads a date as its whole UTC day", () => {
  const { from, to } = timeBounds({ from: "2024-02-29", to: "2024-02-29" });
  assert.deepEqual([from?.seconds, from?.nanos], [1_709_164_800n, 0]);
  assert.deepEqual([to?.seconds, to?.nanos], [1_709_164_800n + 86_399n, 999_999_999]);
});

test("refuses impossible dates and times, and a range that ends before it begins", () => {
  const wrong = [
    ...["", "2025", "2025-2-3", "2025-02-30", "2025-13-01", "0000-01-01", "2025-11-21 08:30:00Z", "2025-11-21T08:30Z"],
    ...["2025-11-21T08:30:00", "2025-11-21T24:00:00Z", "2025-11-21T08:60:00Z", "2025-11-21T08:30:60Z", "yesterday"],
    ...["2025-11-21T08:30:00+24:00", "2025-11-21T08:30:00.Z", "1763713800", "9999-12-31", "２０２５-11-21"],
  ];
  for (const from of wrong) assert.throws(() => timeBounds({ from }), Failure, from);
  assert.throws(() => timeBounds({ from: "2025-02-02", to: "2025-02-01" }), Failure);
  assert.throws(() => momentOf("expires_at", "2025-02-02"), Failure);
});

test("names the cause when it refuses a plausible time", () => {
  for (const [from, problem] of [
    ["2025-11-21T08:30:00 02:00", /\+ must be sent as %2B$/],
    ["2025-11-21T08:30:60Z", /seconds end at 59$/],
    ["9999-12-31T23:59:59.9999999Z", /^must be a time from 0001-01-02 to 9999-12-30$/],
    ["9999-12-31", /^must be a time from 0001-01-02 to 9999-12-30$/],
    ["2025-02-30", /^must be an RFC 3339 time or a date as YYYY-MM-DD$/],
  ] as const) {
    assert.match(formatProblem(dayOrMoment, from) ?? "", problem);
    assert.throws(
      () => timeBounds({ from }),
      (error) => error instanceof Failure && problem.test(error.violations[0]?.problem ?? ""),
    );
  }
});

test.run();
