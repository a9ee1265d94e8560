import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { isCountry } from "./country.ts";

const test = suite("countries");

test("the 249 codes that ISO 3166-1 assigns are countries", () => {
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const known = letters.flatMap((a) => letters.map((b) => a + b).filter(isCountry));
  assert.equal(known.length, 249);
  for (const code of ["DE", "US", "GB", "AX", "BQ", "CW", "SS", "SX", "ME", "RS", "UM", "PS", "TW"]) {
    assert(known.includes(code), code);
  }
});

test("withdrawn, reserved and made-up codes are not, nor is anything but two capitals", () => {
  for (const code of ["SU", "YU", "DD", "AN", "UK", "EU", "XK", "ZZ", "XX", "de", "D", "DEU", "", "D1"]) {
    assert.equal(isCountry(code), false, code);
  }
});

test.run();
