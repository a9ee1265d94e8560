// Months of payments that leave the database and come back. The services, PostgreSQL and the files are real.
import assert from "node:assert/strict";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { asyncBufferFromFile } from "hyparquet";
import { Database } from "#platform/database/database.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { OperatorService } from "#proto/payments/v1/operator_pb.ts";
import { StatementService } from "#proto/payments/v1/statement_pb.ts";
import { Archive, monthOf } from "../../../services/archive/archive.ts";
import { listMonths, setGoal } from "../../../services/archive/months.ts";
import { readDocuments } from "../../../services/archive/parquet.ts";
import { auditLedger } from "../../../services/payments/audit/ledger.ts";
import { archivedPayments } from "../../../services/payments/flows/restore-archived.ts";
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { noArchive, startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";

const test = suite("archive of payments", { timeoutMs: 120_000 });
const log = createLog("test", "silent");

const fixtures = fixture(test, async () => {
  const path = await tempDir("archive");
  const url = pathToFileURL(`${path}/`);
  const services = await startMoneyServices({ archive: url, ignoresEvents: true });
  // The login of the service, which may not delete from the journal by itself.
  const db = await Database.open({ url: services.paymentsServiceUrl, name: "test", log });
  return {
    ...{ path, url, services, db, money: merchantMoney(services, db) },
    archive: new Archive({ db, log }, archivedPayments, { ...noArchive, ARCHIVE_URL: url }),
    stop: async () => {
      await db.close();
      await services.stop();
      await rm(path, { recursive: true });
    },
  };
});

/** An id of a month that no other test uses. */
function oldId(year: number): string {
  return newId("payment", Date.UTC(year, 4, 12));
}

const buyer = { customerEmail: "dora@example.com", description: "A lemon tree", metadata: { phone: "0301234567" } };

async function paid(paymentId: string): Promise<string> {
  const { money, services } = fixtures;
  const order = { ...money.order(), ...buyer, paymentId, sessionId: `cs_${paymentId.slice(4)}` };
  await services.payments.createIntent({ ...order, orderReference: `order ${paymentId}` });
  await money.pay(paymentId);
  await services.payments.verifyIntent({ paymentId });
  return paymentId;
}

async function refund(paymentId: string, amount: bigint): Promise<string> {
  const { money, services } = fixtures;
  const request = { ...money.owner, paymentId, amount, reason: "damaged" };
  const { refund: made } = await services.payments.refundPayment(request);
  return made?.id ?? assert.fail("no refund");
}

/** Rows of the payment in each table, without what the archive leaves out. */
async function rowsOf(paymentId: string): Promise<unknown> {
  const [row] = await fixtures.db.rows<{ document: unknown }>("select document from archivable where id = $1", [
    paymentId,
  ]);
  return row?.document;
}

async function isStored(paymentId: string): Promise<boolean> {
  const rows = await fixtures.db.rows("select from payments where id = $1", [paymentId]);
  return rows.length === 1;
}

/** Balances of the merchant by account, and what the auditor finds in the books. */
async function books() {
  const { services, money, db } = fixtures;
  const { balances } = await services.payments.getBalances(money.owner);
  const found: unknown[] = [];
  await auditLedger(db, (difference) => found.push(difference));
  return { balances: balances.map(({ currency, account, amount }) => `${currency} ${account} ${amount}`), found };
}

async function reach(archive: Archive, month: string, goal: "archived" | "restored"): Promise<void> {
  await setGoal(fixtures.db, month, goal);
  while (await archive.runOnce());
}

/** The history that operators read. */
async function historyOf(objectId: string): Promise<string[]> {
  const { services } = fixtures;
  const peer = connectPeer({ url: services.urls.payments, token: services.settings.RPC_TOKEN });
  const { lines } = await peer.client(OperatorService).tellPayment({ objectId });
  peer.close();
  return lines.map(({ part, id, what }) => `${part} ${id} ${what}`);
}

/** Compares the last hour with the processor's statement, as the job does each day. */
async function matchStatement(): Promise<void> {
  const { services, money } = fixtures;
  const [from, to] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 60_000)].map(timestampFromDate);
  assert(from && to);
  const { payment } = await services.payments.getPayment({ ...money.owner, paymentId: await money.paid() });
  const peer = connectPeer({ url: services.urls.payments, token: services.settings.RPC_TOKEN });
  const connectorAccountId = payment?.attempts[0]?.connectorId ?? "";
  await peer.client(StatementService).matchStatement({ connectorAccountId, from, to });
  peer.close();
}

test("a page of payments is looked up row by row, without reading a whole table", async () => {
  const rows = await fixtures.db.rows<{ "QUERY PLAN": string }>(
    "explain select document from archivable where id >= $1 order by id limit 1000",
    ["pay_0"],
  );
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  assert.match(plan, /payments_pkey/);
  assert.doesNotMatch(plan, /Anti Join/);
});

test("an archived payment is read by id without personal data, and the books stay as they were", async () => {
  const { archive, services, money, db } = fixtures;
  const paymentId = await paid(oldId(2021));
  const refundId = await refund(paymentId, 300n);
  const [before, earlier, rows] = [await money.record(paymentId), await books(), await rowsOf(paymentId)];
  const history = await historyOf(paymentId);
  await reach(archive, monthOf(paymentId), "archived");
  assert.equal(await isStored(paymentId), false);
  assert.deepEqual(await books(), earlier);
  assert.deepEqual(earlier.found, []);
  const after = await money.record(paymentId);
  assert.deepEqual([after.archived, after.customerEmail, after.description, after.metadata], [true, "", "", {}]);
  assert.deepEqual([after.card, after.attempts[0]?.cardLast4, after.refunds[0]?.reason], [undefined, "", ""]);
  for (const name of [
    "amount",
    "feeAmount",
    "netAmount",
    "refundedAmount",
    "status",
    "connectorRef",
    "orderReference",
  ] as const)
    assert.equal(after[name], before[name], name);
  assert.deepEqual(
    [after.createdAt, after.capturedAt, after.version],
    [before.createdAt, before.capturedAt, before.version],
  );
  const { refund: read } = await services.payments.getRefund({ ...money.owner, refundId });
  assert.deepEqual([read?.amount, read?.archived, read?.reason], [300n, true, ""]);
  const { entries } = await services.payments.listPaymentEntries({ ...money.owner, paymentId });
  assert.equal(entries.length, 4);
  const list = await services.payments.listPayments({
    ...money.owner,
    limit: 10,
    orderReference: `order ${paymentId}`,
  });
  assert.deepEqual([list.total, list.archivedBefore?.seconds], [0n, BigInt(Date.UTC(2021, 5, 1) / 1_000)]);
  for (const id of [paymentId, refundId, `cs_${paymentId.slice(4)}`]) assert.deepEqual(await historyOf(id), history);
  assert.equal((await services.disputes.listDisputes({ ...money.owner, paymentId, limit: 10 })).total, 0n);
  const [document = ""] = await documentsOf(monthOf(paymentId));
  assert.doesNotMatch(document, /dora|lemon|0301234567|4242|damaged|card_fingerprint/);
  await reach(archive, monthOf(paymentId), "restored");
  assert.deepEqual(await rowsOf(paymentId), rows);
  assert.deepEqual(await books(), earlier);
  assert.deepEqual(await listMonths(db).then(([month]) => month?.parts), 0n);
});

test("a refund, a note and a late report bring an archived payment back, and the month is archived again", async () => {
  const { archive, services, money, db } = fixtures;
  const paymentId = await paid(oldId(2022));
  const month = monthOf(paymentId);
  await reach(archive, month, "archived");
  const other = { ...money.owner, merchantId: "mer_01hzzzzzzzzzzzzzzzzzzzzzzz" };
  await assert.rejects(services.payments.refundPayment({ ...other, paymentId, amount: 1n }), /NOT_FOUND/);
  assert.equal(await isStored(paymentId), false);
  const earlier = await books();
  await refund(paymentId, 400n);
  assert.equal((await money.record(paymentId)).refundedAmount, 400n);
  assert.deepEqual((await books()).found, []);
  await reach(archive, month, "archived");
  assert.equal((await money.record(paymentId)).archived, true);
  assert.equal((await money.record(paymentId)).refundedAmount, 400n);
  const [row] = await db.rows<{ key: string }>(
    "select key from archived_keys where payment_id = $1 and key like 'intent %'",
    [paymentId],
  );
  await services.processor("POST", `/test/intents/${row?.key.split(" ")[2]}/refunds`, { amount: 100 });
  await matchStatement();
  assert.equal((await money.record(paymentId)).refundedAmount, 500n);
  assert.equal(await isStored(paymentId), true);
  assert.deepEqual((await books()).found, []);
  assert.notDeepEqual((await books()).balances, earlier.balances);
});

test("whichever statement a process dies at, a month is archived and restored without a loss", async () => {
  const { db, archive } = fixtures;
  const ids = [await paid(oldId(2023)), await paid(oldId(2023)), await paid(oldId(2023))];
  const month = monthOf(ids[0] ?? "");
  const rows = await Promise.all(ids.map(rowsOf));
  const earlier = await books();
  for (const goal of ["archived", "restored", "archived", "restored"] as const) {
    await setGoal(db, month, goal);
    for (let dies = 1, isDone = false; !isDone; dies++) {
      const mortal = new Archive({ db: dyingAt(db, dies), log }, archivedPayments, {
        ...noArchive,
        ARCHIVE_URL: fixtures.url,
      });
      isDone = await mortal.runOnce().then(
        (hasMore) => !hasMore,
        () => false,
      );
      // Its lease ends.
      await db.rows("update archive_months set next_try_at = now() where next_try_at is not null");
      assert.deepEqual((await books()).found, []);
      for (const id of ids) assert.equal((await fixtures.money.record(id)).capturedAmount, 1_000n);
    }
  }
  while (await archive.runOnce());
  assert.deepEqual(await Promise.all(ids.map(rowsOf)), rows);
  assert.deepEqual(await books(), earlier);
});

test("a file that was changed drops and restores nothing, and a payment that changed meanwhile stays", async () => {
  const { archive, path, db, money } = fixtures;
  const [changed, kept] = [await paid(oldId(2024)), await paid(oldId(2024))];
  const month = monthOf(kept);
  await setGoal(db, month, "archived");
  // The part is written and named; the next statement drops.
  const writing = new Archive({ db: dyingAt(db, "drop_archived"), log }, archivedPayments, {
    ...noArchive,
    ARCHIVE_URL: fixtures.url,
  });
  await assert.rejects(writing.runOnce(), /died/);
  await refund(changed, 100n);
  const earlier = await books();
  const folder = join(path, "payments", month);
  const [file = ""] = await readdir(folder);
  const bytes = await readFile(join(folder, file));
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  await writeFile(join(folder, file), bytes);
  await setGoal(db, month, "archived");
  await assert.rejects(archive.runOnce(), /is not the file that was written/);
  assert.deepEqual([await isStored(changed), await isStored(kept)], [true, true]);
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  await writeFile(join(folder, file), bytes);
  await setGoal(db, month, "archived");
  await archive.runOnce();
  assert.deepEqual([await isStored(changed), await isStored(kept)], [true, false]);
  assert.equal((await money.record(changed)).refundedAmount, 100n);
  while (await archive.runOnce());
  assert.equal(await isStored(changed), false);
  assert.equal((await money.record(changed)).refundedAmount, 100n);
  assert.deepEqual(await books(), earlier);
  await rm(folder, { recursive: true });
  await assert.rejects(
    new Archive({ db, log }, archivedPayments, { ...noArchive, ARCHIVE_URL: fixtures.url }).find(kept),
    /SERVICE_UNAVAILABLE/,
  );
});

/** A database whose process dies at its n-th statement, or at the first with this text. */
function dyingAt(db: Database, at: number | string): Database {
  let statements = 0;
  const rows: Database["rows"] = async (text, params) => {
    statements += 1;
    if (statements === at || (typeof at === "string" && text.includes(at))) throw new Error("the process died");
    return await db.rows(text, params);
  };
  return Object.assign(Object.create(db), { rows });
}

/** Documents in the files of a month. */
async function documentsOf(month: string): Promise<string[]> {
  const folder = join(fixtures.path, "payments", month);
  const found: string[] = [];
  for (const file of await readdir(folder)) {
    const buffer = await asyncBufferFromFile(join(folder, file));
    for await (const group of readDocuments(buffer)) found.push(...group);
  }
  return found;
}

test.run();
