// Guarantees of the closed month: it is closed in order and with a reason for open differences, later facts count when
// they are written, and its trial balance and hash stay equal.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { connectPeer } from "#platform/rpc/client.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { LedgerService } from "#proto/payments/v1/ledger_pb.ts";
import { openDatabase, testPool } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { LedgerRows } from "../../harness/payments/ledger-rows.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("month close", { timeoutMs: 30_000 });

const services = fixture(test, () => startMoneyServices());
const db = fixture(test, () => openDatabase(services.paymentsDatabaseUrl));
const owner = { merchantId: newId("merchant"), environment: Environment.LIVE };
const peer = fixture(test, async () => {
  const { urls, settings } = services;
  const opened = connectPeer({ url: urls.payments, token: settings.RPC_TOKEN });
  return { ledger: opened.client(LedgerService), stop: async () => opened.close() };
});

test.before(async () => {
  const books = new LedgerRows(db, owner);
  await books.payment(db, "EUR");
  await books.journal("captured", 10_000n, "2026-08-03T10:00:00Z");
  await books.journal("fee_charged", 320n, "2026-08-03T10:00:00Z");
  await books.movement("capture", { amount: 10_000n, fee: 290n }, "2026-08-31T23:59:59.999Z");
  await books.journal("captured", 500n, "2026-09-01T00:00:00Z");
});

const close = (month: string, accepted = "") => peer.ledger.closeMonth({ month, accepted });

async function refused(month: string, problem: RegExp): Promise<void> {
  await assert.rejects(close(month), (error) => {
    assert(error instanceof Failure);
    assert.match(error.violations.map((each) => each.problem).join(), problem);
    return true;
  });
}

/** The trial balance at the start of a day, as text. */
async function balanceAt(day: string): Promise<string[]> {
  const at = timestampFromDate(new Date(`${day}T00:00:00Z`));
  const { lines } = await peer.ledger.getTrialBalance({ merchantId: owner.merchantId, at });
  return lines.map(({ currency, account, debit, credit }) => `${currency} ${account} ${debit} ${credit}`);
}

test("a month that has not ended, or follows an open one with entries, is not closed", async () => {
  await refused("2099-01", /has not ended/);
  await refused("2026-09", /2026-08 has entries and is open/);
});

test("open differences refuse a close without a reason, which is kept with the operator's name", async () => {
  await db.rows(
    `insert into statement_differences (connector_account_id, object, ref, kind) values ('mco_books', 'payment', 'pi_1', 'amount')`,
  );
  await refused("2026-08", /1 differences are open/);
  const closed = await close("2026-08", "the bank confirmed it");
  assert.deepEqual([closed.accepted, closed.closedBy, closed.entries], ["the bank confirmed it", "operator", 4n]);
  assert.match(closed.hash, /^[0-9a-f]{64}$/);
  await db.rows("update statement_differences set resolved_at = now()");
});

test("a closed month answers the same again, and nothing changes or deletes it", async () => {
  const first = await close("2026-08");
  assert.deepEqual(await close("2026-08", "another reason"), first);
  assert.equal(first.currentHash, first.hash);
  for (const change of [
    "update month_closes set hash = repeat('0', 64)",
    "delete from month_closes",
    "truncate month_closes",
  ])
    await assert.rejects(db.rows(change), /never changed/, change);
});

test("a fact of a closed month that is written later counts in the month in which it is written", async () => {
  const before = await balanceAt("2026-09-01");
  const books = new LedgerRows(db, owner);
  await books.payment(db, "EUR");
  const now = new Date().toISOString();
  await books.movement("processor_fee", { amount: -150n }, "2026-08-20T08:00:00Z", now);
  await books.journal("captured", 700n, "2026-07-31T08:00:00Z", now);
  assert.deepEqual(await balanceAt("2026-09-01"), before);
  const { hash, currentHash } = await close("2026-08");
  assert.equal(currentHash, hash);
  const { entries } = await peer.ledger.listLedgerEntries({
    ...{ from: timestampFromDate(new Date(now)), to: timestampFromDate(new Date(Date.now() + 60_000)), limit: 10 },
    merchantId: owner.merchantId,
  });
  assert.deepEqual(entries.map(({ kind }) => kind).sort(), ["captured", "processor_fee"]);
});

test("a close waits for a transaction that began before it, whose entry counts in the month", async () => {
  const pool = testPool(services.paymentsServiceUrl, 1);
  const client = await pool.connect();
  await client.query("begin");
  await client.query("select now()");
  const closing = close("2026-09");
  closing.catch(() => {});
  await eventually("the close to begin", async () => {
    const [row] = await db.rows<{ hash: string | null }>("select hash from month_closes where month = '2026-09-01'");
    return row;
  });
  const rows = async <Row>(text: string, values: readonly unknown[] = []) =>
    (await client.query(text, [...values])).rows as Row[];
  const late = new LedgerRows({ rows }, owner);
  await late.movement("adjustment", { amount: 99n, isOurs: false }, "2026-09-30T10:00:00Z", "now");
  const [{ hash: early } = { hash: "" }] = await db.rows<{ hash: string | null }>(
    "select hash from month_closes where month = '2026-09-01'",
  );
  assert.equal(early, null, "no hash while the transaction is open");
  await client.query("commit");
  client.release();
  await pool.end();
  const closed = await closing;
  assert.equal(closed.entries, 2n);
  assert.ok((await balanceAt("2026-10-01")).includes("EUR processor_adjustments 0 99"));
  const again = await close("2026-09");
  assert.deepEqual([again.hash, again.currentHash], [closed.hash, closed.hash]);
});

test.run();
