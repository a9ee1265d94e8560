import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { RiskKind, RiskRuleSchema } from "#proto/checkout/v1/risk_pb.ts";
import { suite } from "../../../../../test/harness/suite.ts";
import type { OperatorVisit } from "../../../session/visit.ts";
import { emptyRule, formatQuantity, readRule, ruleForm, shownRule } from "./rule-form.ts";

const test = suite("risk rule form");

const visit = { language: "en" } as const;
const cap = (subject: string, limit: string) => readRule(visit, { ...emptyRule, kind: "amount_cap", subject, limit });

test("shows and reads an amount cap as money with the currency's decimals", () => {
  for (const [subject, minor, field, shown] of [
    ["JPY", 50_000n, "50000", "¥50,000"],
    ["EUR", 50_000n, "500.00", "€500.00"],
    ["KWD", 50_000n, "50.000", "KWD\u00a050.000"],
  ] as const) {
    const rule = create(RiskRuleSchema, { kind: RiskKind.AMOUNT_CAP, subject, limit: minor });
    assert.equal(shownRule(rule).limit, field);
    assert.equal(readRule(visit, shownRule(rule)).limit, minor);
    assert.equal(formatQuantity("en", RiskKind.AMOUNT_CAP, subject, minor), shown);
  }
  assert.deepEqual(cap("eur", "500").subject, "EUR");
  assert.equal(cap("eur", "500").limit, 50_000n);
});

test("rejects an impossible amount and an unknown currency at their fields", () => {
  assert.deepEqual(
    cap("JPY", "500.00").problems.map(([field]) => field),
    ["limit"],
  );
  assert.deepEqual(
    cap("EUR", "").problems.map(([field]) => field),
    ["limit"],
  );
  assert.deepEqual(
    cap("EURO", "500").problems.map(([field]) => field),
    ["subject"],
  );
});

test("reads whole numbers for other rules", () => {
  const velocity = (limit: string) => readRule(visit, { ...emptyRule, kind: "velocity", subject: "email", limit });
  assert.equal(velocity("5").limit, 5n);
  assert.deepEqual(
    velocity("5.00").problems.map(([field]) => field),
    ["limit"],
  );
  assert.equal(formatQuantity("en", RiskKind.VELOCITY, "email", 5_000n), "5,000");
});

test("a form has only the fields of its kind", () => {
  const namesOf = (kind: string) => {
    const { text } = ruleForm({ language: "en", token: "t" } as OperatorVisit, {
      action: "/risk/rules",
      rule: { ...emptyRule, kind },
      isNew: true,
    });
    return [...text.matchAll(/<(?:input|select|textarea)[^>]* name="(\w+)"/g)].map(([, name]) => name);
  };
  const common = ["environment", "enabled", "enabled", "note"];
  const own = (kind: string) =>
    namesOf(kind).filter((name) => !["form_token", "kind", ...common].includes(String(name)));
  assert.deepEqual(own("amount_cap"), ["subject", "limit"]);
  assert.deepEqual(own("velocity"), ["subject", "limit", "window_seconds"]);
  assert.deepEqual(own("card_testing"), ["subject", "limit", "window_seconds"]);
  assert.deepEqual(own("block_list"), ["subject", "entries"]);
});

test.run();
