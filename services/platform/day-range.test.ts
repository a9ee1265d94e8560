import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../test/harness/suite.ts";
import { splitRange, type TimeRange, timeRange } from "./day-range.ts";

const test = suite("day ranges");
const day = (text: string) => new Date(`${text}Z`);

test("whole days and rests are exactly the range, and whole units begin where counts do", () => {
  const time = fc.date({ min: day("2023-12-20T00:00:00"), max: day("2024-02-10T00:00:00"), noInvalidDate: true });
  const bound = fc.option(time, { nil: undefined });
  fc.assert(
    fc.property(bound, bound, time, fc.constantFrom("day", "week"), (from, to, probe, unit) => {
      const { whole, rests } = splitRange(timeRange(from, to), unit);
      const holds = (range: TimeRange) => atOf(range.from) <= probe.getTime() && probe.getTime() < atOf(range.to);
      const wanted = (from === undefined || probe >= from) && (to === undefined || probe <= to);
      assert.equal([whole, ...rests].filter(holds).length, Number(wanted));
      if (whole.from === whole.to || whole.from === "-infinity") return;
      assert.match(whole.from, /T00:00:00\.000Z$/);
      if (unit === "week") assert.equal(new Date(whole.from).getUTCDay(), 1);
    }),
  );
});

test("a day's last millisecond is the end of the day", () => {
  const range = timeRange(day("2024-03-01T00:00:00.000"), day("2024-03-02T23:59:59.999"));
  const whole = { from: "2024-03-01T00:00:00.000Z", to: "2024-03-03T00:00:00.000Z" };
  assert.deepEqual(splitRange(range, "day"), { whole, rests: [] });
});

test("no bounds are one whole", () => {
  const all = { from: "-infinity", to: "infinity" };
  assert.deepEqual(splitRange(timeRange(undefined, undefined), "week"), { whole: all, rests: [] });
});

function atOf(time: string): number {
  if (time.endsWith("infinity")) return time === "infinity" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  return Date.parse(time);
}

test.run();
