import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { evaluateRisk, isPublicAddress, type RiskFacts, type RiskRule, rulesInEffect } from "./risk.ts";
import { ruleViolations } from "./risk-rule.ts";

const test = suite("risk screening");
const [sandbox, live] = [1, 2];
let made = 0;

function rule(change: Partial<RiskRule>): RiskRule {
  made += 1;
  const nothing = { limit: 0, windowSeconds: 0, entries: [], enabled: true };
  return {
    id: `rr_${made}`,
    merchantId: "*",
    environment: 0,
    kind: "velocity",
    subject: "email",
    ...nothing,
    ...change,
  };
}

const facts: RiskFacts = {
  amount: 1_000n,
  currency: "EUR",
  email: "buyer@shop.example.com",
  address: "203.0.113.9",
  cards: [],
  counts: new Map(),
};

test("passes an ordinary session and skips rules without their facts", () => {
  const rules = [rule({ limit: 20, windowSeconds: 600 }), rule({ kind: "amount_cap", subject: "USD", limit: 10 })];
  assert.deepEqual(evaluateRisk("create", rules, facts), { stage: "create", blocked: false, results: [] });
});

test("prefers the merchant's and the environment's rule, even a disabled one", () => {
  const general = rule({ limit: 1 });
  const forLive = rule({ limit: 2, environment: live });
  const own = rule({ limit: 3, merchantId: "mer_1" });
  const off = rule({ limit: 4, merchantId: "mer_1", environment: live, enabled: false });
  const limits = (rules: RiskRule[], environment: number) =>
    rulesInEffect(rules, environment).map(({ limit }) => limit);
  assert.deepEqual(limits([general, forLive], sandbox), [1]);
  assert.deepEqual(limits([general, forLive], live), [2]);
  assert.deepEqual(limits([general, forLive, own], live), [3]);
  assert.deepEqual(limits([general, forLive, own, off], live), []);
  assert.deepEqual(limits([general, forLive, own, off], sandbox), [3]);
});

test("combines block lists", () => {
  const lists = [rule({ kind: "block_list" }), rule({ kind: "block_list", merchantId: "mer_1" })];
  assert.equal(rulesInEffect(lists, live).length, 2);
});

test("blocks an amount above the cap of its currency", () => {
  const cap = rule({ kind: "amount_cap", subject: "EUR", limit: 1_000 });
  assert.equal(evaluateRisk("create", [cap], facts).blocked, false);
  const [result] = evaluateRisk("create", [cap], { ...facts, amount: 1_001n }).results;
  assert.deepEqual(result, {
    ruleId: cap.id,
    kind: "amount_cap",
    subject: "EUR",
    measured: 1_001,
    limit: 1_000,
    hit: true,
  });
});

test("blocks a count at the limit, for velocity and card testing at their stages", () => {
  const email = rule({ limit: 20, windowSeconds: 600 });
  const testing = rule({ kind: "card_testing", subject: "address", limit: 10, windowSeconds: 600 });
  const counted = (n: number) => ({
    ...facts,
    counts: new Map([
      [email.id, n],
      [testing.id, n],
    ]),
  });
  assert.equal(evaluateRisk("create", [email, testing], counted(19)).blocked, false);
  assert.equal(evaluateRisk("create", [email, testing], counted(20)).blocked, true);
  assert.equal(evaluateRisk("create", [testing], counted(20)).results.length, 0);
  assert.equal(evaluateRisk("open", [testing], counted(9)).blocked, false);
  assert.equal(evaluateRisk("attempt", [testing], counted(10)).blocked, true);
});

test("matches addresses, networks, domains with subdomains, e-mails and cards in block lists", () => {
  const listed = (
    stage: "create" | "open" | "attempt",
    subject: string,
    entry: string,
    change: Partial<RiskFacts> = {},
  ) => evaluateRisk(stage, [rule({ kind: "block_list", subject, entries: [entry] })], { ...facts, ...change }).blocked;
  assert.equal(listed("create", "email", "buyer@shop.example.com"), true);
  assert.equal(listed("create", "email", "other@shop.example.com"), false);
  assert.equal(listed("create", "domain", "example.com"), true);
  assert.equal(listed("create", "domain", "ample.com"), false, "not a part of a name");
  assert.equal(listed("open", "address", "203.0.113.9"), true);
  assert.equal(listed("open", "address", "203.0.113.0/24"), true);
  assert.equal(listed("open", "address", "203.0.113.0/30"), false);
  assert.equal(
    listed("open", "address", "203.0.113.0/24", { address: "::ffff:203.0.113.9" }),
    true,
    "IPv4 written as IPv6",
  );
  assert.equal(listed("open", "address", "2001:db8::/32", { address: "2001:db8:1::5" }), true);
  assert.equal(listed("open", "address", "2001:db8::/32"), false);
  assert.equal(listed("open", "address", "203.0.113.0/24", { address: "" }), false);
  assert.equal(listed("create", "card_fingerprint", "fp_1", { cards: ["fp_2", "fp_1"] }), true);
  assert.equal(listed("attempt", "card_fingerprint", "fp_1", { cards: ["fp_2"] }), false);
});

test("ignores private and malformed addresses", () => {
  for (const address of ["127.0.0.1", "10.1.2.3", "::1", "fd00::1", "169.254.1.1", "", "nonsense"]) {
    assert.equal(isPublicAddress(address), false, address);
  }
  for (const address of ["8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8"]) {
    assert.equal(isPublicAddress(address), true, address);
  }
});

test("reports the wrong fields of an invalid rule", () => {
  const wrong = (change: Partial<RiskRule>) => ruleViolations(rule(change)).map(({ field }) => field);
  assert.deepEqual(wrong({ limit: 5, windowSeconds: 60 }), []);
  assert.deepEqual(wrong({ limit: 0, windowSeconds: 0 }), ["window_seconds", "limit"]);
  assert.deepEqual(wrong({ kind: "amount_cap", subject: "ABC", limit: 1 }), ["subject"]);
  assert.deepEqual(wrong({ kind: "card_testing", subject: "email", limit: 1, windowSeconds: 1 }), ["subject"]);
  assert.deepEqual(wrong({ kind: "block_list", limit: 1, entries: ["no"] }), ["limit", "entries[0]"]);
  assert.deepEqual(wrong({ kind: "block_list", subject: "address", entries: ["10.0.0.0/8", "::/0", "10.0.0.0/33"] }), [
    "entries[2]",
  ]);
  assert.deepEqual(wrong({ kind: "block_list", subject: "domain", entries: ["example.com", "exa mple.com"] }), [
    "entries[1]",
  ]);
});

test.run();
