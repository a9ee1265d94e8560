// A processor's lists become balance transactions and payouts: each line once, whatever is repeated, doubled or cut
// short; every balance and the ledger follow from them.
import assert from "node:assert/strict";
import { listTransactions, readBalance } from "../../../services/payments/lists/balance.ts";
import type { ProcessorMovement } from "../../../services/payments/rules/movement.ts";
import { insertPayments } from "../../../services/payments/store/new-payments.ts";
import { movedSums } from "../../../services/payments/store/processor/movements.ts";
import { Random } from "../../chaos/random.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { paymentInsert } from "../../harness/payments/payment-insert.ts";
import { hoursIn, makeMovement, makePayout, ProcessorLists } from "../../harness/payments/processor-lists.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("movements and payouts", { timeoutMs: 60_000 });
const db = fixture(test, async () => await openDatabase((await freshDatabase("payments")).url));
const hourMs = 3_600_000;
const none = { type: "", currency: "", paymentId: "", refundId: "", disputeId: "", payoutId: "" };
const all = { ...none, from: undefined, to: undefined };
const window = { limit: 200, offset: 0n };

const types = async ({ account }: ProcessorLists, filters = all) =>
  (await listTransactions(db, account, filters, window)).rows.map(({ type, net }) => `${type} ${net}`).sort();

async function ledger({ account }: ProcessorLists): Promise<Record<string, string>> {
  const rows = await db.rows<{ account: string; amount: string }>(
    `select account, sum(amount)::text as amount from (
       select debit || ' ' || currency as account, amount from ledger where merchant_id = $1
       union all select credit || ' ' || currency, -amount from ledger where merchant_id = $1) lines
     group by account having sum(amount) <> 0 order by account`,
    [account.merchantId],
  );
  return Object.fromEntries(rows.map((row) => [row.account, row.amount]));
}

async function events(type: string, { account }: ProcessorLists): Promise<number> {
  const rows = await db.rows(
    "select from outbox where subject like $1 and position(convert_to($2, 'UTF8') in body) > 0",
    [`%${type}%`, account.merchantId],
  );
  return rows.length;
}

test("lists that repeat or break off leave each line once, and the balance is their sum at every moment", async () => {
  const random = new Random(5);
  const lists = new ProcessorLists("repeats");
  const kinds = [
    ["capture", 1],
    ["refund", -1],
    ["processor_fee", -1],
    ["reserve", -1],
    ["release", 1],
  ] as const;
  lists.movements = Array.from({ length: 40 }, (_, i) => {
    const [type, sign] = kinds[random.int(0, kinds.length - 1)] ?? kinds[0];
    const occurredAt = hoursIn(random.int(0, 200));
    const availableAt = new Date(occurredAt.getTime() + random.int(0, 80) * hourMs);
    const currency = random.chance(0.8) ? "EUR" : "JPY";
    return makeMovement(`m${i}`, {
      type,
      amount: BigInt(sign * random.int(1, 900)),
      fee: BigInt(random.int(0, 9)),
      currency,
      occurredAt,
      availableAt,
    });
  });
  for (let tries = 0; tries < 30; tries++) {
    lists.failAfter = random.int(0, 25);
    lists.movements = lists.movements
      .map((one) => ({ one, order: random.next() }))
      .toSorted((a, b) => a.order - b.order)
      .map(({ one }) => one);
    await lists.read(db).catch(() => {});
  }
  lists.failAfter = Number.POSITIVE_INFINITY;
  await lists.read(db);
  assert.equal((await types(lists)).length, 40);
  for (let hours = -1; hours < 300; hours += 7) {
    const { balances } = await readBalance(db, lists.account, hoursIn(hours));
    const sum = (currency: string, pick: (one: ProcessorMovement) => bigint) =>
      lists.movements
        .filter((one) => one.currency === currency && one.occurredAt <= hoursIn(hours))
        .reduce((total, one) => total + pick(one), 0n);
    for (const { currency, available, pending, reserved } of balances) {
      const ready = sum(currency, (one) => (one.availableAt <= hoursIn(hours) ? one.amount - one.fee : 0n));
      assert.equal(available, ready, `available at ${hours}`);
      assert.equal(pending, sum(currency, (one) => one.amount - one.fee) - ready, `pending at ${hours}`);
      assert.equal(
        reserved,
        sum(currency, (one) => (one.type === "reserve" || one.type === "release" ? one.fee - one.amount : 0n)),
      );
    }
  }
  const books = await ledger(lists);
  const moved = await movedSums(db, lists.account.id);
  assert.deepEqual(
    books["processor_balance EUR"],
    String(moved.get("EUR")),
    "processor_balance is what the processor has",
  );
});

test("a payment's movements name it and bring its platform fees, also if it is known here later", async () => {
  const lists = new ProcessorLists("links");
  const wanted = paymentInsert({ connectorAccountId: lists.account.id, merchantId: lists.account.merchantId });
  lists.movements = [makeMovement("early", { intentRef: "pi_links" })];
  await lists.read(db);
  assert.deepEqual(await types(lists, { ...all, paymentId: wanted.payment.id }), []);
  await insertPayments(db, [wanted]);
  const { id, merchantId, environment } = wanted.payment;
  await db.rows(
    `with paid as (update payments set outcome = 'succeeded', captured_amount = amount, visible = true, connector_ref = 'pi_links',
       authorized_at = now(), captured_at = now() where id = $1 returning *)
     insert into journal (merchant_id, environment, currency, payment_id, kind, cause, debit, credit, amount)
     select $2, $3::smallint, currency, id, 'captured', 'at_1', 'processor_clearing', 'merchant_balance', 1000 from paid
     union all select $2, $3::smallint, currency, id, 'fee_charged', 'at_1', 'merchant_balance', 'fees_revenue', 60 from paid`,
    [id, merchantId, environment],
  );
  await lists.read(db);
  await lists.read(db);
  assert.deepEqual(await types(lists, { ...all, paymentId: id }), ["capture 960", "fee -60"]);
  const { balances } = await readBalance(db, lists.account, hoursIn(100));
  assert.equal(
    balances.find(({ currency }) => currency === "EUR")?.available,
    960n,
    "the processor did not take our fee",
  );
  const books = await ledger(lists);
  assert.equal(books["processor_clearing EUR"], undefined, "booked and settled");
  assert.equal(books["processor_fees EUR"], "40");
});

test("a payout has its movements and the rest that they do not explain, and is announced when it is paid or comes back", async () => {
  const lists = new ProcessorLists("payouts");
  lists.movements = [
    makeMovement("c1"),
    makeMovement("c2", { amount: 500n, fee: 20n }),
    makeMovement("p1", { type: "payout", amount: -1_500n, fee: 0n, occurredAt: hoursIn(50), availableAt: hoursIn(50) }),
  ];
  lists.payouts = [makePayout("po_1", { amount: 1_500n })];
  await lists.read(db);
  const [open] = await db.rows<{ id: string; reconciled_at: string | null }>(
    "select * from payouts where ref = 'po_1'",
  );
  assert.equal(open?.reconciled_at, null, "not listed yet");
  lists.lines.set("po_1", ["c1", "c2"]);
  lists.payouts = [makePayout("po_1", { amount: 1_500n, status: "paid" })];
  await lists.read(db);
  await lists.read(db);
  const [paid] = await db.rows<{ id: string; rest: string; status: string }>(
    "select id, unattributed_amount::text as rest, status from payouts where ref = 'po_1'",
  );
  assert.deepEqual([paid?.status, paid?.rest], ["paid", "60"], "1,500 of 960 + 480");
  assert.deepEqual(await types(lists, { ...all, payoutId: paid?.id ?? "" }), ["capture 480", "capture 960"]);
  assert.equal(await events("payout.paid", lists), 1);
  assert.equal((await ledger(lists))["bank EUR"], "1500");
  lists.payouts = [makePayout("po_1", { amount: 1_500n, status: "failed", failureMessage: "account closed" })];
  lists.movements.push(
    makeMovement("p2", {
      type: "payout_failure",
      amount: 1_500n,
      fee: 0n,
      occurredAt: hoursIn(90),
      availableAt: hoursIn(90),
    }),
  );
  await lists.read(db);
  await lists.read(db);
  assert.equal(await events("payout.failed", lists), 1);
  const books = await ledger(lists);
  assert.deepEqual([books["bank EUR"], books["payouts_in_transit EUR"]], [undefined, undefined], "the money is back");
});

test("a converted movement goes through fx_difference, and one that is not ours through outside_payments", async () => {
  const lists = new ProcessorLists("converted");
  lists.movements = [
    makeMovement("chf", { currency: "CHF", amount: 940n, fee: 30n, source: { amount: 1_000n, currency: "EUR" } }),
    makeMovement("other", { isOurs: false, amount: 300n, fee: 10n }),
  ];
  await lists.read(db);
  assert.deepEqual(await ledger(lists), {
    "fx_difference CHF": "-940",
    "fx_difference EUR": "1000",
    "outside_payments EUR": "-300",
    "processor_balance CHF": "910",
    "processor_balance EUR": "290",
    "processor_clearing EUR": "-1000",
    "processor_fees CHF": "30",
    "processor_fees EUR": "10",
  });
});

test("a movement is never changed or deleted", async () => {
  const lists = new ProcessorLists("facts");
  lists.movements = [makeMovement("fact")];
  await lists.read(db);
  await assert.rejects(db.rows("update movements set amount = 1 where ref = 'fact'"), /is a fact/);
  await assert.rejects(db.rows("delete from movements where ref = 'fact'"), /is a fact/);
});

test.run();
