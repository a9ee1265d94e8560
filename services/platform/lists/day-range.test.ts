import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import { nearestWeeks } from "../../payments/lists/counted-ranges.ts";
import { splitRange, type TimeRange, timeRange } from "./day-range.ts";

const test = suite("day ranges");
const day = (text: string) => new Date(`${text}Z`);

const time = fc.date({ min: day("2023-12-20T00:00:00"), max: day("2024-02-10T00:00:00"), noInvalidDate: true });
const bound = fc.option(time, { nil: undefined });
const holding = (ranges: readonly TimeRange[], probe: Date) =>
  ranges.filter((range) => atOf(range.from) <= probe.getTime() && probe.getTime() < atOf(range.to)).length;
const isWithin = (from: Date | undefined, to: Date | undefined, probe: Date) =>
  Number((from === undefined || probe >= from) && (to === undefined || probe <= to));

test("whole days and remainders cover exactly the range", () => {
  fc.assert(
    fc.property(bound, bound, time, (from, to, probe) => {
      const { whole, remainders } = splitRange(timeRange(from, to));
      assert.equal(holding([whole, ...remainders], probe), isWithin(from, to, probe));
      if (whole.from !== whole.to && whole.from !== "-infinity") assert.match(whole.from, /T00:00:00\.000Z$/);
    }),
  );
});

test("nearest weeks with their corrections cover exactly the range and start on Monday", () => {
  const halfWeekMs = 3.5 * 86_400_000;
  fc.assert(
    fc.property(bound, bound, time, (from, to, probe) => {
      const { whole, added, removed } = nearestWeeks(timeRange(from, to));
      const held = holding([whole, ...added], probe) - holding(removed, probe);
      assert.equal(held, isWithin(from, to, probe));
      if (whole.from === whole.to) return;
      for (const { from, to } of [...added, ...removed]) assert(atOf(to) - atOf(from) <= halfWeekMs);
      for (const end of [whole.from, whole.to].filter((end) => !end.endsWith("infinity"))) {
        assert.match(end, /T00:00:00\.000Z$/);
        assert.equal(new Date(end).getUTCDay(), 1);
      }
    }),
  );
});

test("a day's last millisecond is the end of the day", () => {
  const range = timeRange(day("2024-03-01T00:00:00.000"), day("2024-03-02T23:59:59.999"));
  const whole = { from: "2024-03-01T00:00:00.000Z", to: "2024-03-03T00:00:00.000Z" };
  assert.deepEqual(splitRange(range), { whole, remainders: [] });
});

test("an unbounded range is whole", () => {
  const whole = { from: "-infinity", to: "infinity" };
  const range = timeRange(undefined, undefined);
  assert.deepEqual(splitRange(range), { whole, remainders: [] });
  assert.deepEqual(nearestWeeks(range), { whole, added: [], removed: [] });
});

test("rounds no bound to a time that PostgreSQL cannot read", () => {
  for (const bound of [day("9999-12-30T23:59:59.999"), day("0001-01-02T00:00:00")]) {
    for (const range of [timeRange(undefined, bound), timeRange(bound, undefined)]) {
      const { whole, added, removed } = nearestWeeks(range);
      const ends = [whole, ...added, ...removed].flatMap(({ from, to }) => [from, to]);
      for (const end of ends) assert.match(end, /^(-?infinity|\d{4}-\d\d-\d\dT[\d:.]+Z)$/);
    }
  }
});

function atOf(time: string): number {
  if (time.endsWith("infinity")) return time === "infinity" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  return Date.parse(time);
}

test.run();
