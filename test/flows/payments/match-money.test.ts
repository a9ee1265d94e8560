// Journal, movements, payouts and the processor's balance are matched once an hour: each lasting difference is one row,
// and one that is gone is resolved.
import assert from "node:assert/strict";
import { pino } from "pino";
import { register } from "prom-client";
import { matchMoney } from "../../../services/payments/flows/match-money.ts";
import { paymentsMetrics } from "../../../services/payments/metrics.ts";
import { insertPayments } from "../../../services/payments/store/new-payments.ts";
import { listDifferences } from "../../../services/payments/store/processor/statements.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { paymentInsert } from "../../harness/payments/payment-insert.ts";
import { hoursIn, makeMovement, makePayout, ProcessorLists } from "../../harness/payments/processor-lists.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("matching money", { timeoutMs: 30_000 });
const db = fixture(test, async () => await openDatabase((await freshDatabase("payments")).url));

/** Matches as if the hour were over and everything older than a day. */
async function match(lists: ProcessorLists): Promise<string[]> {
  const { id } = lists.account;
  await db.rows("insert into movement_cursors (connector_account_id) values ($1) on conflict do nothing", [id]);
  await db.rows("update movement_cursors set checked_at = null where connector_account_id = $1", [id]);
  const deps = { db, log: pino({ enabled: false }), metrics: paymentsMetrics(register) };
  await matchMoney(deps, lists.reader, lists.account, { lagSeconds: 0 });
  const open = await listDifferences(db, { accountId: id, openOnly: true }, { limit: 100, beforeId: 0n });
  return open.map(({ object, kind, ours, theirs }) => `${object} ${kind}: ${ours} / ${theirs}`).sort();
}

test("a gap of the balance counts when it lasts, and is resolved when it is gone", async () => {
  const lists = new ProcessorLists("gap");
  lists.movements = [makeMovement("g1", { isOurs: false })];
  lists.balances = [{ currency: "EUR", available: 0n, pending: 1_000n, reserved: 0n }];
  await lists.read(db);
  assert.deepEqual(await match(lists), [], "money may be moving");
  assert.deepEqual(await match(lists), ["balance balance: 960 EUR / 1000 EUR"]);
  lists.balances = [{ currency: "EUR", available: 0n, pending: 960n, reserved: 0n }];
  assert.deepEqual(await match(lists), []);
});

test("a payment whose movements differ from the journal is a difference until they agree; an open dispute explains it", async () => {
  const lists = new ProcessorLists("clearing");
  lists.balances = [];
  const { id: connectorAccountId, merchantId, environment } = lists.account;
  const wanted = paymentInsert({ connectorAccountId, merchantId });
  const { id } = wanted.payment;
  await insertPayments(db, [wanted]);
  await db.rows(
    `with paid as (update payments set outcome = 'succeeded', captured_amount = amount, visible = true, connector_ref = 'pi_clearing',
       authorized_at = now(), captured_at = now() where id = $1 returning *)
     insert into journal (merchant_id, environment, currency, payment_id, kind, cause, debit, credit, amount)
     select $2, $3::smallint, currency, id, 'captured', 'at_1', 'processor_clearing', 'merchant_balance', 1000 from paid`,
    [id, merchantId, environment],
  );
  assert.deepEqual(await match(lists), ["payment clearing: 1000 EUR / 0 EUR"], "booked, not listed");
  lists.movements = [makeMovement("c1", { intentRef: "pi_clearing" })];
  await lists.read(db);
  assert.deepEqual(await match(lists).then((all) => all.filter((one) => one.includes("clearing"))), []);
  lists.movements.push(
    makeMovement("d1", {
      type: "dispute",
      amount: -1_000n,
      fee: 1_500n,
      intentRef: "pi_clearing",
      occurredAt: hoursIn(2),
    }),
  );
  await lists.read(db);
  const clearing = async () => (await match(lists)).filter((one) => one.includes("clearing"));
  assert.deepEqual(await clearing(), ["payment clearing: 1000 EUR / 0 EUR"], "withdrawn without a dispute here");
  await db.rows(
    `insert into disputes (id, payment_id, merchant_id, environment, amount, currency, status, reason, connector, connector_ref, opened_at)
     select 'dp_' || substr(id, 5), id, merchant_id, environment, 1000, currency, 'needs_response', 'fraudulent', connector, 'dp_1', now()
     from payments where id = $1`,
    [id],
  );
  assert.deepEqual(await clearing(), []);
});

test("a payout that its movements explain in part, and a movement of a payment that is not here, are listed", async () => {
  const lists = new ProcessorLists("parts");
  lists.movements = [makeMovement("known", { isOurs: false }), makeMovement("lost", { intentRef: "pi_lost" })];
  lists.payouts = [makePayout("po_part", { amount: 1_000n })];
  lists.lines.set("po_part", ["known"]);
  await lists.read(db);
  assert.deepEqual(await match(lists), [
    "movement unknown_to_us:  / 1000 EUR capture",
    "payout unattributed: 960 EUR / 1000 EUR",
  ]);
});

test.run();
