// Days of filters begin and end at midnight of the shop, also where clocks change at midnight.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { chooseZone, isTimeZone, localDay, runInZone, startOfDay } from "./zone.ts";

const test = suite("time zone of a page");

const startIn = (zone: string, day: string) =>
  runInZone(zone, () => new Date(startOfDay(day) ?? Number.NaN).toISOString());

test("begins a day at the zone's midnight, or at its first moment where midnight is skipped", () => {
  for (const [zone, day, start] of [
    ["UTC", "2026-11-28", "2026-11-28T00:00:00.000Z"],
    ["Asia/Tokyo", "2026-11-28", "2026-11-27T15:00:00.000Z"],
    ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z"],
    ["Europe/Berlin", "2026-03-30", "2026-03-29T22:00:00.000Z"],
    ["Europe/Berlin", "2026-10-26", "2026-10-25T23:00:00.000Z"],
    ["Asia/Kolkata", "2026-01-01", "2025-12-31T18:30:00.000Z"],
    ["America/Santiago", "2026-09-06", "2026-09-06T04:00:00.000Z"],
    ["America/Santiago", "2026-04-05", "2026-04-05T04:00:00.000Z"],
  ] as const)
    assert.equal(startIn(zone, day), start, `${zone} ${day}`);
});

test("covers each moment by exactly one day", () => {
  for (const zone of ["America/Santiago", "Africa/Cairo", "Pacific/Apia", "Europe/Lisbon"])
    runInZone(zone, () => {
      for (let ms = Date.UTC(2026, 0, 1); ms < Date.UTC(2027, 0, 1); ms += 86_400_000) {
        const start = startOfDay(new Date(ms).toISOString().slice(0, 10)) ?? 0;
        assert.equal(localDay(start), new Date(ms).toISOString().slice(0, 10));
        assert.notEqual(localDay(start - 1), localDay(start));
      }
    });
});

test("takes the first name that is a time zone, else UTC", () => {
  for (const [names, zone] of [
    [["", "Asia/Tokyo"], "Asia/Tokyo"],
    [["Mars/Base", undefined, "Europe/Berlin"], "Europe/Berlin"],
    [["+09:00", "x".repeat(65)], "UTC"],
    [[], "UTC"],
  ] as const)
    assert.equal(chooseZone(names), zone);
  assert.equal(isTimeZone("Europe/Berlin\n"), false);
  for (const text of ["", "2026-02-31", "yesterday", "2026-1-1"]) assert.equal(startOfDay(text), undefined);
});

test.run();
