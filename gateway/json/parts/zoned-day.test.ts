// A date is its first moment in a time zone, also where an hour at midnight is missing or comes twice.
import assert from "node:assert/strict";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { Failure } from "#platform/values/failure.ts";
import { suite } from "../../../test/harness/suite.ts";
import { localClock, momentIn } from "./zoned-day.ts";

const test = suite("days of time zones");
const read = (text: string, zone: string) => timestampDate(momentIn("from", text, localClock("timezone", zone)));

test("a date begins at the first moment that the zone's clocks show it", () => {
  for (const [zone, date, first] of [
    ["Europe/Berlin", "2025-03-30", "2025-03-29T23:00:00.000Z"],
    ["Europe/Berlin", "2025-10-27", "2025-10-26T23:00:00.000Z"],
    // No midnight; midnight twice; no such day.
    ["America/Santiago", "2025-09-07", "2025-09-07T04:00:00.000Z"],
    ["America/Havana", "2025-11-02", "2025-11-02T04:00:00.000Z"],
    ["Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00.000Z"],
    ["Asia/Kathmandu", "2025-01-01", "2024-12-31T18:15:00.000Z"],
    ["UTC", "2025-01-01", "2025-01-01T00:00:00.000Z"],
  ] as const)
    assert.equal(read(date, zone).toISOString(), first, `${zone} ${date}`);
  assert.equal(read("2025-01-01T00:00:00.5+02:00", "Asia/Tokyo").toISOString(), "2024-12-31T22:00:00.500Z");
});

test("in every zone the moment has the date, and the one before has not", () => {
  const zones = fc.constantFrom(...Intl.supportedValuesOf("timeZone"));
  const days = fc.date({ min: new Date("1975-01-01"), max: new Date("2037-12-31"), noInvalidDate: true });
  fc.assert(
    fc.property(zones, days, (zone, day) => {
      const date = day.toISOString().slice(0, 10);
      const first = read(date, zone).getTime();
      const shown = (ms: number) => new Date(localClock("timezone", zone)(ms)).toISOString().slice(0, 10);
      assert.ok(shown(first) >= date, zone);
      assert.ok(shown(first - 1_000) < date, zone);
    }),
    { numRuns: 2_000 },
  );
});

test("any date of the format is read or refused as the field's, and an unknown zone as its own", () => {
  for (const date of ["0001-01-02", "0904-10-12", "9999-12-30"])
    for (const zone of ["Europe/Berlin", "Pacific/Kiritimati", "Pacific/Niue", "UTC"]) {
      try {
        assert.ok(Number.isFinite(read(date, zone).getTime()));
      } catch (error) {
        assert.ok(error instanceof Failure && error.violations[0]?.field === "from", `${date} ${zone} ${error}`);
      }
    }
  assert.throws(() => read("2025-01-01", "Europe/Atlantis"), Failure);
});

test.run();
