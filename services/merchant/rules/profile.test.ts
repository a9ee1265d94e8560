import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { brandingViolations } from "./branding.ts";
import { homeViolations, isHttpsAddress, movedHome, profileViolations } from "./profile.ts";

const test = suite("profile and branding");
const fields = (violations: { field: string }[]) => violations.map((violation) => violation.field);

test("absent fields break nothing, and optional ones may be empty", () => {
  assert.deepEqual(profileViolations({}), []);
  assert.deepEqual(profileViolations({ legalName: "", phone: "", website: "" }), []);
  assert.deepEqual(brandingViolations({ logoUrl: "", supportEmail: "" }), []);
});

test("every wrong field is named", () => {
  const wrong = { name: " \t", email: "ops", phone: "030 123", website: "http://acme.example" };
  assert.deepEqual(fields(profileViolations(wrong)), ["name", "email", "phone", "website"]);
  assert.deepEqual(fields(homeViolations({ country: "ZZ", currency: "XAU" })), ["country", "currency"]);
  assert.deepEqual(fields(brandingViolations({ logoUrl: "https://", supportEmail: "a@b" })), [
    "logo_url",
    "support_email",
  ]);
});

test("an https address has a host, no credentials, and a bounded length", () => {
  const good = "https://acme.example/logo.svg";
  assert.equal(isHttpsAddress(good, good.length), true);
  assert.equal(isHttpsAddress(good, good.length - 1), false);
  for (const text of ["http://acme.example", "https://user:pw@acme.example", "https://", "javascript:alert(1)", "x"]) {
    assert.equal(isHttpsAddress(text, 2_048), false, text);
  }
});

test("a merchant stays at home: what it is may be said, anything else is refused with what it is", () => {
  const home = { country: "DE", currency: "EUR" };
  assert.deepEqual(movedHome(home, {}), []);
  assert.deepEqual(movedHome(home, home), []);
  assert.deepEqual(movedHome(home, { country: "DE", currency: "USD" }), [
    { field: "currency", problem: "cannot be changed; it is EUR" },
  ]);
});

test.run();
