// Stripe's balance transactions (https://docs.stripe.com/api/balance_transactions), payouts and balance as the port has
// them.
import assert from "node:assert/strict";
import { listPage, type ScriptedAnswer, scriptedStripe } from "../../../../test/harness/stripe/scripted-stripe.ts";
import { suite } from "../../../../test/harness/suite.ts";
import type { ProcessorAccount } from "../connector.ts";
import { stripeBalance } from "./balance.ts";

const test = suite("Stripe's balance");
const account = {} as ProcessorAccount; // the script reads no members

function charge(change: object = {}) {
  const money = { amount: 1_000, amount_captured: 1_000, currency: "eur", status: "succeeded" };
  const metadata = { tollbooth_payment: "pay_1" };
  return { id: "ch_1", object: "charge", payment_intent: "pi_1", ...money, metadata, ...change };
}

const refund = { id: "re_1", object: "refund", amount: 300, currency: "eur", charge: charge() };
const dispute = {
  ...{ id: "du_1", object: "dispute", amount: 1_000, currency: "eur", charge: charge(), status: "needs_response" },
  ...{ reason: "fraudulent", created: 1, evidence_details: { due_by: null } },
};
const payout = { id: "po_1", object: "payout" };

interface Transaction {
  readonly type: string;
  readonly amount: number;
  readonly source?: object | string | null;
  readonly [member: string]: unknown;
}

function transaction({ type, amount, source = null, ...change }: Transaction, i = 0) {
  const times = { created: 1_795_341_600, available_on: 1_795_478_400 };
  const made = { id: `txn_${i}`, object: "balance_transaction", balance_type: "payments", fee: 0, currency: "eur" };
  return { ...made, exchange_rate: null, ...times, type, amount, source, ...change };
}

function readerOf(answer: (url: URL) => ScriptedAnswer["body"]) {
  const { sdk, requests } = scriptedStripe((url) => ({ body: answer(url) }));
  return { reader: stripeBalance(sdk, () => ({})), requests };
}

/** Reads one page of transactions; sessions are looked up as `cs_<intent>`. */
async function movements(...transactions: readonly Transaction[]) {
  const { reader, requests } = readerOf(({ pathname, searchParams }) =>
    pathname === "/v1/balance_transactions"
      ? listPage(transactions.map(transaction))
      : listPage([{ id: `cs_${searchParams.get("payment_intent")}` }]),
  );
  const answer = await reader.readMovements(account, undefined, "");
  return { answer, items: answer.kind === "succeeded" ? answer.value.items : [], reader, requests };
}

test("each type of transaction has its type here, by what it is about and its sign; an unknown one is an adjustment", async () => {
  const rows: readonly (readonly [Transaction, string])[] = [
    [{ type: "charge", amount: 1_000, source: charge() }, "capture"],
    [{ type: "payment", amount: 1_000, source: charge() }, "capture"],
    [{ type: "payment_failure_refund", amount: -1_000, source: charge({ status: "failed" }) }, "dispute"],
    [{ type: "refund", amount: -300, source: refund }, "refund"],
    [{ type: "payment_refund", amount: -300, source: refund }, "refund"],
    [{ type: "refund_failure", amount: 300, source: refund }, "refund_failure"],
    [{ type: "adjustment", amount: 300, source: refund }, "refund_failure"],
    [{ type: "adjustment", amount: -1_000, source: dispute }, "dispute"],
    [{ type: "adjustment", amount: 1_000, source: dispute }, "dispute_reversal"],
    [{ type: "adjustment", amount: -7 }, "adjustment"],
    [{ type: "stripe_fee", amount: -200 }, "processor_fee"],
    [{ type: "payout", amount: -500, source: payout }, "payout"],
    [{ type: "payout_failure", amount: 500, source: payout }, "payout_failure"],
    [{ type: "payout_cancel", amount: 500, source: payout }, "payout_failure"],
    [{ type: "payout", amount: 500, source: payout }, "payout_failure"],
    [{ type: "reserve_transaction", amount: -50, source: "rsv_1" }, "reserve"],
    [{ type: "reserve_release", amount: 50, source: "rsv_1" }, "release"],
    [{ type: "topup", amount: 900, source: "tu_1" }, "adjustment"],
    [{ type: "lunar_dust", amount: -1, source: { id: "ld_1", object: "lunar_dust" } }, "adjustment"],
  ];
  const { items } = await movements(...rows.map(([made]) => made));
  assert.deepEqual(
    items.map(({ type }) => type),
    rows.map(([, type]) => type),
  );
});

test("a movement names its intent and its refund, dispute or payout, and whether it carries our reference", async () => {
  const foreign = charge({ id: "ch_2", payment_intent: "pi_2", metadata: {} });
  const onPage = charge({
    payment_intent: "pi_3",
    metadata: { tollbooth_payment: "pay_3", tollbooth_page: "checkout" },
  });
  const { items, reader, requests } = await movements(
    { type: "charge", amount: 1_000, source: charge() },
    { type: "refund", amount: -300, source: refund },
    { type: "adjustment", amount: -1_000, source: dispute },
    { type: "charge", amount: 900, source: foreign },
    { type: "charge", amount: 900, source: onPage },
    { type: "payout", amount: -500, source: payout },
  );
  assert.deepEqual(
    items.map(({ intentRef, objectRef, isOurs }) => [intentRef, objectRef, isOurs]),
    [
      ["pi_1", undefined, true],
      ["pi_1", "re_1", true],
      ["pi_1", "du_1", true],
      ["pi_2", undefined, false],
      ["cs_pi_3", undefined, true],
      [undefined, "po_1", false],
    ],
  );
  assert.equal(requests.length, 2, "one page was looked up");
  const again = await reader.readMovements(account, undefined, "");
  assert.deepEqual(again.kind === "succeeded" && again.value.items, items);
  assert.equal(requests.length, 3, "and is not looked up again");
});

test("the fee stays apart, a converted amount has its source, and a date before the movement is its time", async () => {
  const chf = { currency: "chf", exchange_rate: 0.74 };
  const partial = charge({ amount_captured: 400 });
  const { items } = await movements(
    { type: "charge", amount: 1_000, fee: 39, source: charge(), available_on: 1 },
    { type: "charge", amount: 740, fee: 36, source: charge(), ...chf },
    { type: "charge", amount: 296, source: partial, ...chf },
    { type: "charge", amount: 740, source: partial, ...chf },
    { type: "refund", amount: -222, source: refund, ...chf },
    { type: "adjustment", amount: -740, fee: 1_500, source: dispute, ...chf },
    {
      type: "charge",
      amount: 500,
      source: charge({ currency: "mga", amount: 9, amount_captured: 9 }),
      exchange_rate: 55,
    },
  );
  const euro = (amount: bigint) => ({ amount, currency: "EUR" });
  assert.deepEqual(
    items.map(({ amount, fee, currency, source }) => [amount, fee, currency, source]),
    [
      [1_000n, 39n, "EUR", undefined],
      [740n, 36n, "CHF", euro(1_000n)],
      [296n, 0n, "CHF", euro(400n)],
      [740n, 0n, "CHF", euro(1_000n)],
      [-222n, 0n, "CHF", euro(-300n)],
      [-740n, 1_500n, "CHF", euro(-1_000n)],
      [500n, 0n, "EUR", { amount: 900n, currency: "MGA" }],
    ],
  );
  assert.deepEqual(items[0]?.availableAt, items[0]?.occurredAt);
  assert.deepEqual(items[1]?.availableAt, new Date(1_795_478_400_000));
});

test("other balances of the account are left out, and a charge that is not whole fails the page", async () => {
  const { items } = await movements(
    { type: "issuing_transaction", amount: -5, balance_type: "issuing" },
    { type: "stripe_fee", amount: -6, balance_type: undefined },
  );
  assert.deepEqual(
    items.map(({ amount }) => amount),
    [-6n],
  );
  assert.equal((await movements({ type: "charge", amount: 1, source: "ch_1" })).answer.kind, "unknown");
});

test("a payout's lines are pending until Stripe has reconciled it, none for a manual one, and without its own movement", async () => {
  const linesOf = async (status: string) => {
    const { reader, requests } = readerOf(({ pathname, searchParams }) => {
      if (pathname === "/v1/payouts/po_1") return { ...payout, reconciliation_status: status };
      assert.equal(searchParams.get("payout"), "po_1");
      const own = transaction({ type: "payout", amount: -961, source: "po_1" });
      return listPage([own, transaction({ type: "charge", amount: 1_000, source: "ch_1" }, 1)], true);
    });
    return { answer: await reader.readPayoutLines(account, "po_1", ""), reader, requests };
  };
  assert.deepEqual((await linesOf("in_progress")).answer, { kind: "pending", value: { items: [], next: "" } });
  assert.deepEqual((await linesOf("not_applicable")).answer, { kind: "succeeded", value: { items: [], next: "" } });
  const { answer, reader, requests } = await linesOf("completed");
  assert.deepEqual(answer, { kind: "succeeded", value: { items: ["txn_1"], next: "txn_1" } });
  await reader.readPayoutLines(account, "po_1", "txn_1");
  assert.deepEqual(
    requests.map(({ pathname, searchParams }) => [pathname, searchParams.get("starting_after")]),
    [
      ["/v1/payouts/po_1", null],
      ["/v1/balance_transactions", null],
      ["/v1/balance_transactions", "txn_1"],
    ],
  );
});

test("payouts and the balance are read in all currencies, with a canceled payout as a failed one", async () => {
  const { reader } = readerOf(({ pathname }) => {
    const of = (amount: number, currency: string) => ({ amount, currency });
    if (pathname === "/v1/balance")
      return { object: "balance", available: [of(5, "eur"), of(-2, "chf")], pending: [of(3, "eur"), of(1, "jpy")] };
    const made = { ...payout, amount: 500, currency: "eur", created: 100, arrival_date: 200, failure_code: null };
    const unsaid = { failure_message: null, statement_descriptor: null };
    return listPage([
      { ...made, ...unsaid, status: "canceled" },
      { ...made, status: "failed", failure_message: "Closed.", statement_descriptor: "STRIPE" },
      { ...made, ...unsaid, id: "po_2", amount: -500, status: "in_transit" },
    ]);
  });
  const payouts = await reader.readPayouts(account, undefined, "");
  assert.ok(payouts.kind === "succeeded");
  assert.deepEqual(
    payouts.value.items.map((each) => [each.amount, each.status, each.failureMessage, each.statementDescriptor]),
    [
      [500n, "failed", "The payout was canceled.", ""],
      [500n, "failed", "Closed.", "STRIPE"],
      [-500n, "in_transit", "", ""],
    ],
  );
  const balance = await reader.readBalance(account);
  assert.deepEqual(balance.kind === "succeeded" && balance.value, [
    { currency: "EUR", available: 5n, pending: 3n, reserved: 0n },
    { currency: "CHF", available: -2n, pending: 0n, reserved: 0n },
    { currency: "JPY", available: 0n, pending: 1n, reserved: 0n },
  ]);
});

test.run();
