// Stripe's balance transactions (https://docs.stripe.com/api/balance_transactions) as lines of a statement.
import assert from "node:assert/strict";
import { listPage, scriptedStripe } from "../../../../test/harness/stripe/scripted-stripe.ts";
import { suite } from "../../../../test/harness/suite.ts";
import { readStatementPage } from "./statement.ts";

const test = suite("Stripe's statement");
const period = { from: new Date("2026-11-22T00:00:00.000Z"), to: new Date("2026-11-23T00:00:00.000Z") };

function charge(change: object = {}) {
  const money = { amount: 1_000, amount_captured: 1_000, currency: "eur", status: "succeeded" };
  const made = { id: "ch_1", object: "charge", payment_intent: "pi_1", ...money };
  return { ...made, metadata: { tollbooth_payment: "pay_1" }, ...change };
}

function refund(change: object = {}) {
  const made = { id: "re_1", object: "refund", amount: 300, currency: "eur", status: "succeeded", created: 1_000 };
  return { ...made, charge: charge(), metadata: { tollbooth_refund: "re_ours" }, ...change };
}

/** Reads one page; the balance has another currency than the payments. */
async function statement(sources: readonly unknown[], { hasMore = false, after = "", pageOf = {} } = {}) {
  const moved = { object: "balance_transaction", amount: 777, net: 777, currency: "chf" };
  const data = sources.map((source, i) => ({ id: `txn_${i}`, ...moved, source }));
  const { sdk, requests } = scriptedStripe(({ pathname, searchParams }) => {
    if (pathname === "/v1/balance_transactions") return { body: listPage(data, hasMore) };
    const session = Object.entries(pageOf).find(([intent]) => intent === searchParams.get("payment_intent"));
    return { body: listPage(session ? [{ id: session[1] }] : []) };
  });
  const page = await readStatementPage(sdk, {}, period, after);
  return { ...page, requests };
}

test("a payment has its captured amount, and a returned one 0", async () => {
  const { lines } = await statement([
    charge({ amount_captured: 400 }),
    charge({ id: "ch_2", payment_intent: "pi_2", status: "failed" }),
  ]);
  assert.deepEqual(
    lines.map(({ ref, amount }) => [ref, amount]),
    [
      ["pi_1", 400n],
      ["pi_2", 0n],
    ],
  );
});

test("a payment of Stripe's page has the page's id, which is queried once per intent", async () => {
  const onPage = { tollbooth_payment: "pay_1", tollbooth_page: "checkout" };
  const paid = charge({ metadata: onPage });
  const other = charge({ id: "ch_2", payment_intent: "pi_2" });
  const pageOf = { pi_1: "cs_1" };
  const { lines, requests } = await statement([paid, refund({ charge: paid }), other], { pageOf });
  assert.deepEqual(
    lines.map(({ ref, intentRef }) => [ref, intentRef]),
    [
      ["cs_1", "cs_1"],
      ["re_1", "cs_1"],
      ["pi_2", "pi_2"],
    ],
  );
  assert.equal(requests.length, 2);
  await assert.rejects(statement([paid]), "a page that is not found leaves no line out");
});

test("an incomplete object fails the whole page", async () => {
  await assert.rejects(statement(["ch_1"]));
  await assert.rejects(statement([refund({ charge: "ch_1" })]));
});

test.run();
