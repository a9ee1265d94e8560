import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { type RoutingRule, routingViolations } from "./routing.ts";

const test = suite("routing rules");
const any: RoutingRule = { currency: "", amountMin: 0, amountMax: 0, captureMethod: "", use: ["mco_1"], share: 0 };
const accounts = [
  { id: "mco_1", canBePrimary: true },
  { id: "mco_2", canBePrimary: false },
];

function fieldsOf(rules: readonly RoutingRule[], among = accounts) {
  return routingViolations(rules, among).map(({ field }) => field);
}

test("a rule has a known currency, ordered bounds, and accounts of the merchant that may be primary", () => {
  assert.deepEqual(fieldsOf([any, { ...any, currency: "EUR", amountMin: 5, amountMax: 5, share: 100 }]), []);
  assert.deepEqual(
    fieldsOf([any, { ...any, currency: "XQQ", amountMin: 6, amountMax: 5, use: ["mco_1", "mco_2", "mco_3"] }]),
    ["rules[1].when.currency", "rules[1].when.amount_max", "rules[1].use[1]", "rules[1].use[2]"],
  );
});

test("all rules together name at most ten accounts", () => {
  const many = Array.from({ length: 11 }, (_, i) => ({ id: `mco_${i}`, canBePrimary: true }));
  const rules = many.map(({ id }) => ({ ...any, use: [id] }));
  assert.deepEqual(fieldsOf([...rules.slice(1), ...rules.slice(1)], many), []);
  assert.deepEqual(fieldsOf(rules, many), ["rules"]);
});

test.run();
