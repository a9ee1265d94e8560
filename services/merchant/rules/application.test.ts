import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { type ApplicationFields, decideApplication, fieldViolations, isExpired, missingFields } from "./application.ts";

const test = suite("onboarding applications");
const whole: ApplicationFields = {
  applicantEmail: "ceo@acme.example",
  legalName: "Acme Ltd",
  tradingName: "Acme",
  countryCode: "DE",
  currencyCode: "EUR",
};

test("each command in each status moves, changes nothing or is refused", () => {
  const statuses = ["draft", "submitted", "approved", "rejected"] as const;
  const outcome = (command: "submit" | "approve" | "reject") =>
    statuses.map((status) => {
      const decision = decideApplication(status, command);
      return decision.kind === "moved" ? decision.to : decision.kind;
    });
  assert.deepEqual(outcome("submit"), ["submitted", "unchanged", "unchanged", "unchanged"]);
  assert.deepEqual(outcome("approve"), ["refused", "approved", "unchanged", "refused"]);
  assert.deepEqual(outcome("reject"), ["refused", "rejected", "refused", "unchanged"]);
});

test("names each missing or blank field once", () => {
  assert.deepEqual(missingFields(whole), []);
  const names = ["applicant_email", "legal_name", "trading_name", "country_code", "currency_code"];
  const empty = { applicantEmail: "", legalName: " ", tradingName: "", countryCode: "", currencyCode: "" };
  assert.deepEqual(
    missingFields(empty).map((violation) => violation.field),
    names,
  );
});

test("a draft may be empty, but its filled fields must be valid", () => {
  const empty = { applicantEmail: "", legalName: "", tradingName: "", countryCode: "", currencyCode: "" };
  assert.deepEqual(fieldViolations(empty), []);
  assert.deepEqual(fieldViolations(whole), []);
  const wrong = { ...empty, applicantEmail: "ceo", countryCode: "ZZ", currencyCode: "XTS" };
  assert.deepEqual(
    fieldViolations(wrong).map((violation) => violation.field),
    ["applicant_email", "country_code", "currency_code"],
  );
});

test("a draft expires after 30 days, a submitted application never", () => {
  const createdAt = new Date("2026-01-01T12:00:00Z");
  const [before, after] = [new Date("2026-01-31T11:59:59Z"), new Date("2026-01-31T12:00:00Z")];
  assert.deepEqual(
    [isExpired({ status: "draft", createdAt }, before), isExpired({ status: "draft", createdAt }, after)],
    [false, true],
  );
  for (const status of ["submitted", "approved", "rejected"] as const)
    assert.equal(isExpired({ status, createdAt }, after), false, status);
});

test.run();
