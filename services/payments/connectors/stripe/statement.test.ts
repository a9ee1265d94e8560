// Stripe's balance transactions (https://docs.stripe.com/api/balance_transactions) as lines of a statement: of what is
// ours, as it is now.
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

function dispute(change: object = {}) {
  const made = {
    id: "du_1",
    object: "dispute",
    amount: 700,
    currency: "eur",
    status: "needs_response",
    created: 1_000,
  };
  return { ...made, charge: charge(), reason: "fraudulent", evidence_details: { due_by: null }, ...change };
}

/** Reads one page; the balance is kept in another currency than anybody paid in. */
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

const euro = { intentRef: "pi_1", currency: "EUR" };

test("a statement has payments, refunds and disputes in their own amount and currency", async () => {
  const { lines } = await statement([charge(), refund(), dispute()]);
  assert.deepEqual(lines, [
    { ...euro, object: "payment", ref: "pi_1", amount: 1_000n, status: "" },
    { ...euro, object: "refund", ref: "re_1", amount: 300n, status: "succeeded" },
    { ...euro, object: "dispute", ref: "du_1", amount: 700n, status: "needs_response" },
  ]);
});

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

test("skips other payments of the account, fees and payouts", async () => {
  const theirs = charge({ id: "ch_9", metadata: {} });
  const withoutIntent = charge({ id: "ch_8", payment_intent: null });
  const foreign = [
    theirs,
    withoutIntent,
    refund({ charge: theirs }),
    refund({ charge: null }),
    dispute({ charge: theirs }),
  ];
  const { lines } = await statement([...foreign, null, { id: "po_1", object: "payout" }, refund({ id: "re_2" })]);
  assert.deepEqual(
    lines.map(({ ref }) => ref),
    ["re_2"],
  );
});

test("an object that moved twice in a page is one current line", async () => {
  const { lines } = await statement([dispute(), dispute({ status: "won" })]);
  assert.deepEqual(
    lines.map(({ ref, status }) => [ref, status]),
    [["du_1", "won"]],
  );
});

test("reads to the last page, also after a page without our objects", async () => {
  const first = await statement([null, null], { hasMore: true });
  assert.deepEqual([first.lines, first.next], [[], "txn_1"]);
  const last = await statement([charge()], { after: "txn_1" });
  assert.equal(last.next, "");
  const { searchParams } = last.requests[0] ?? assert.fail();
  const window = ["created[gte]", "created[lt]", "starting_after"].map((name) => searchParams.get(name));
  assert.deepEqual(window, [String(period.from.getTime() / 1_000), String(period.to.getTime() / 1_000), "txn_1"]);
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
