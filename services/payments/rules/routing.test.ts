import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { suite } from "../../../test/harness/suite.ts";
import { matchRule, type RoutedOrder, type RoutingRule, turnOf } from "./routing.ts";

const test = suite("routing");
const any: RoutingRule = { currency: "", amountMin: 0n, amountMax: 0n, captureMethod: "", use: ["a"], share: 0 };
const order: RoutedOrder = { amount: 2_500n, currency: "EUR", captureMethod: "automatic" };
const usable = ["a", "b", "c"].map((id) => ({ id }));

function chosen(rules: readonly RoutingRule[], turn = 0, among = usable) {
  const match = matchRule(rules, order, among, turn);
  return match && [match.rule, ...match.accounts.map(({ id }) => id)];
}

test("the first rule whose conditions all hold wins, with its accounts in order of use", () => {
  assert.equal(chosen([]), undefined);
  const failing: readonly Partial<RoutingRule>[] = [
    { currency: "USD" },
    { amountMin: 2_501n },
    { amountMax: 2_499n },
    { captureMethod: "manual" },
    { currency: "EUR", amountMin: 2_501n },
  ];
  for (const when of failing) {
    assert.deepEqual(
      chosen([
        { ...any, ...when },
        { ...any, use: ["c", "b"] },
      ]),
      [2, "c", "b"],
      Object.keys(when).join(),
    );
  }
  const all = { currency: "EUR", amountMin: 2_500n, amountMax: 2_500n, captureMethod: "automatic" };
  assert.deepEqual(
    chosen([
      { ...any, ...all },
      { ...any, use: ["b"] },
    ]),
    [1, "a"],
  );
});

test("a rule without a usable account does not match, and takes no share", () => {
  const rules = [
    { ...any, share: 60 },
    { ...any, use: ["b", "a"], share: 30 },
  ];
  const among = usable.filter(({ id }) => id !== "a");
  assert.deepEqual(chosen(rules, 29, among), [2, "b"]);
  assert.equal(chosen(rules, 30, among), undefined);
});

test("shares of matching rules add up, and one payment always gets the same account", () => {
  const rules = [
    { ...any, share: 20 },
    { ...any, currency: "USD" },
    { ...any, use: ["b"], share: 30 },
  ];
  const counts = new Map<unknown, number>();
  for (let turn = 0; turn < 100; turn++) {
    const rule = chosen(rules, turn)?.[0];
    counts.set(rule, (counts.get(rule) ?? 0) + 1);
  }
  assert.deepEqual(
    [...counts],
    [
      [1, 20],
      [3, 30],
      [undefined, 50],
    ],
  );
  const ids = Array.from({ length: 10_000 }, () => newId("payment"));
  const inFirst = ids.filter((id) => chosen(rules, turnOf(id))?.[0] === 1).length;
  assert.ok(inFirst > 1_800 && inFirst < 2_200, `${inFirst} of 10,000`);
  assert.deepEqual(ids.map(turnOf), ids.map(turnOf));
});

test.run();
