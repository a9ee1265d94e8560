import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { brandingViolations } from "./branding.ts";
import { homeViolations, isCountry, isHttpsAddress, movedHome, profileViolations } from "./profile.ts";

const test = suite("profile and branding");
const fields = (violations: { field: string }[]) => violations.map((violation) => violation.field);

test("fields may be absent, and optional ones empty", () => {
  assert.deepEqual(profileViolations({}), []);
  assert.deepEqual(profileViolations({ legalName: "", phone: "", website: "" }), []);
  assert.deepEqual(brandingViolations({ logoUrl: "", supportEmail: "" }), []);
});

test("names every invalid field", () => {
  const wrong = { name: " \t", email: "ops", phone: "030 123", website: "http://acme.example" };
  assert.deepEqual(fields(profileViolations(wrong)), ["name", "email", "phone", "website"]);
  assert.deepEqual(fields(homeViolations({ country: "ZZ", currency: "XAU" })), ["country", "currency"]);
  assert.deepEqual(fields(brandingViolations({ logoUrl: "https://", supportEmail: "a@b" })), [
    "logo_url",
    "support_email",
  ]);
});

test("an https address has a host, no credentials and a limited length", () => {
  const good = "https://acme.example/logo.svg";
  assert.equal(isHttpsAddress(good, good.length), true);
  assert.equal(isHttpsAddress(good, good.length - 1), false);
  for (const text of ["http://acme.example", "https://user:pw@acme.example", "https://", "javascript:alert(1)", "x"]) {
    assert.equal(isHttpsAddress(text, 2_048), false, text);
  }
});

test("refuses another country or currency and names the stored one", () => {
  const home = { country: "DE", currency: "EUR" };
  assert.deepEqual(movedHome(home, {}), []);
  assert.deepEqual(movedHome(home, home), []);
  assert.deepEqual(movedHome(home, { country: "DE", currency: "USD" }), [
    { field: "currency", problem: "cannot be changed; it is EUR" },
  ]);
});

test("countries are exactly the 249 codes that ISO 3166-1 assigns", () => {
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const known = letters.flatMap((a) => letters.map((b) => a + b).filter(isCountry));
  assert.equal(known.length, 249);
  for (const code of ["DE", "US", "GB", "AX", "BQ", "CW", "SS", "SX", "ME", "RS", "UM", "PS", "TW"]) {
    assert(known.includes(code), code);
  }
  for (const code of ["SU", "YU", "DD", "AN", "UK", "EU", "XK", "ZZ", "XX", "de", "D", "DEU", "", "D1"]) {
    assert.equal(isCountry(code), false, code);
  }
});

test.run();
