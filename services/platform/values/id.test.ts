import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { idFloor, idTimeMs, isId, newId, newSecretId } from "./id.ts";

const test = suite("ids");

test("ids of one process ascend strictly, also within a millisecond and when the clock steps back", () => {
  const ids = [...Array.from({ length: 100 }, () => 5), 4, 6].map((ms) =>
    newId("payment", Date.parse("2040-01-01") + ms),
  );
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => (a < b ? -1 : 1)),
  );
  assert.equal(new Set(ids).size, ids.length);
});

test("an id contains its creation time, at most a second ahead of the clock", () => {
  const noon = Date.parse("2050-01-01T12:00:00Z");
  const timeOf = (nowMs: number) => idTimeMs(newId("payment", nowMs));
  assert.equal(timeOf(noon), noon);
  assert.equal(timeOf(noon - 1_000), noon, "a small step back is waited out");
  assert.equal(timeOf(noon - 1_001), noon - 1_001, "a larger one is followed");
  assert.equal(timeOf(noon - 3_600_000), noon - 3_600_000);
});

test("secret ids contain their creation time, and ids of one millisecond are far apart", () => {
  const noon = Date.parse("2050-01-01T12:00:00Z");
  const ids = Array.from({ length: 2_000 }, () => newSecretId("application", noon));
  for (const id of ids) assert.equal(isId("application", id) && idTimeMs(id), noon, id);
  assert.ok(ids.every((id) => id < idFloor("application", noon + 1)));
  const numbers = ids.map(randomSuffix).sort((a, b) => (a < b ? -1 : 1));
  for (const [i, number] of numbers.slice(1).entries()) assert.ok(number - (numbers[i] ?? 0n) >= 1n << 40n);
  const ascending = ids.filter((id, i) => i > 0 && id > (ids[i - 1] ?? "")).length;
  assert.ok(ascending > 800 && ascending < 1_200, `${ascending} of 2,000 follow a lesser one`);
});

/** The number in the last sixteen characters. */
function randomSuffix(id: string): bigint {
  const digits = "0123456789abcdefghjkmnpqrstvwxyz";
  let number = 0n;
  for (const character of id.slice(-16)) number = number * 32n + BigInt(digits.indexOf(character));
  return number;
}

test("an id belongs to its noun and to nothing else", () => {
  const id = newId("payment");
  assert.match(id, /^pay_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.equal(isId("payment", id), true);
  assert.equal(isId("refund", id), false);
  for (const bad of ["", "pay_", `${id}0`, id.toUpperCase(), id.replace("pay_", "pay-"), "pay_\u0000"]) {
    assert.equal(isId("payment", bad), false, bad);
  }
});

test.run();
