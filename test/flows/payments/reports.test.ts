// Reports: a file has each row of its range once and right, whatever happens while it is written.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import pg from "pg";
import { IdempotencyKeys } from "#platform/database/idempotency.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { BalanceTransactionSchema } from "#proto/payments/v1/balance_pb.ts";
import { reencryptColumn } from "../../../deploy/cli/setup/reencrypt-column.ts";
import { createReport } from "../../../services/payments/flows/reports/create-report.ts";
import { makeReport, reportRowsMax, type TurnSize } from "../../../services/payments/flows/reports/make-report.ts";
import { readReportFile } from "../../../services/payments/flows/reports/report-file.ts";
import { makeNextReport } from "../../../services/payments/jobs/make-reports.ts";
import { reportColumns } from "../../../services/payments/lists/reports/columns.ts";
import { claimReport, findReport, sweepReports } from "../../../services/payments/store/reports.ts";
import { type ReportType, reportTypes } from "../../../services/public-json/report.ts";
import { sealedColumns } from "../../../services/services.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { insertPaymentRows } from "../../harness/payments/payment-rows.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("reports", { timeoutMs: 120_000 });

const database = fixture(test, () => freshDatabase("payments"));
const db = fixture(test, () => openDatabase(database.serviceUrl));
const admin = fixture(test, () => openDatabase(database.url));
const rowKey = randomBytes(32);
const vault = new Vault(new Map([["k1", rowKey]]));
const log = createLog("test", "silent");
const deps = fixture(
  test,
  async () => ({
    db,
    vault,
    log,
    outbox: new Outbox({ namespace: "t", source: "payments" }),
    keys: new IdempotencyKeys(db, vault, 5),
  }),
  () => {},
);

const [from, to] = [new Date("2026-03-01T00:00:00Z"), new Date("2026-04-01T00:00:00Z")];
const newOwner = () => ({ merchantId: newId("merchant"), environment: 1 as const });
type Owner = ReturnType<typeof newOwner>;

interface Order {
  readonly type: ReportType;
  readonly columns?: string[];
  readonly from?: Date;
  readonly to?: Date;
}

async function order(owner: Owner, { type, columns = [], ...range }: Order): Promise<string> {
  const times = { from: timestampFromDate(range.from ?? from), to: timestampFromDate(range.to ?? to) };
  const request = { ...owner, type, columns, timezone: "UTC", ...times };
  const { report } = await createReport(deps, request as Parameters<typeof createReport>[1], undefined);
  assert(report);
  await admin.rows("update reports set created_at = created_at - interval '10 seconds' where id = $1", [report.id]);
  return report.id;
}

async function make(size?: TurnSize): Promise<void> {
  while (await makeNextReport(deps, size));
}

/** The file, read in parts from random places. */
async function fileOf(owner: Owner, id: string): Promise<string> {
  const parts: Uint8Array[] = [];
  for (let offset = 0n; ; ) {
    const { bytes } = await readReportFile(deps, owner, { id, offset });
    if (bytes.length === 0) return Buffer.concat(parts).toString();
    parts.push(bytes);
    offset += BigInt(bytes.length);
  }
}

/** Cells by RFC 4180, with the header as names. */
function parse(file: string): Record<string, string>[] {
  assert.ok(file.startsWith("\ufeff"));
  const lines: string[][] = [[]];
  for (const [, quoted, plain = "", end = ""] of file
    .slice(1)
    .matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    lines.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\r\n") lines.push([]);
  }
  const [head = [], ...rows] = lines.filter((line) => line.length > 1 || line[0] !== "");
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? ""])));
}

async function reportOf(owner: Owner, wanted: Order, size?: TurnSize): Promise<Record<string, string>[]> {
  const id = await order(owner, wanted);
  await make(size);
  return parse(await fileOf(owner, id));
}

/** Movements of the owner, evenly over the month; ids ascend with their times. */
async function addMovements(owner: Owner, count: number, payoutId: string | null = null, begin = 0): Promise<void> {
  await admin.rows(
    `insert into movements (id, merchant_id, environment, connector_account_id, ref, type, currency, amount, fee, is_ours, payout_id,
       occurred_at, available_at, posted_at)
     select 'txn_' || lpad(abs(hashtext($1) % 1000000)::text, 7, '0') || lpad(i::text, 19, '0'), $1, 1, 'mco_' || $1, 'bt_' || i, 'capture',
       'EUR', 100 + i % 900, i % 7, true, $4, at, at, at
     from generate_series($3::int, $3::int + $2::int - 1) i, lateral (select $5::timestamptz + i * interval '1 second' as at) times`,
    [owner.merchantId, count, begin, payoutId, from.toISOString()],
  );
}

async function addPayout(owner: Owner, amount: number, rest: number | null, at = from): Promise<string> {
  const id = newId("payout");
  await admin.rows(
    `insert into payouts (id, merchant_id, environment, connector_account_id, ref, amount, currency, status, arrival_date, created_at,
       posted_at, reconciled_at, lines_amount, unattributed_amount)
     select $1, $2, 1, 'mco_1', 'ref_' || $1, $3::bigint, 'EUR', 'in_transit', '2026-03-05', $5::timestamptz, $5::timestamptz, case when $4::bigint is not null then $5::timestamptz end,
       $3::bigint - $4::bigint, $4::bigint`,
    [id, owner.merchantId, amount, rest, at.toISOString()],
  );
  return id;
}

test("every payment of the range is in the file once, with its amounts as integers and decimals", async () => {
  const owner = newOwner();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const until = new Date("2026-04-02T00:00:00Z");
  await insertPaymentRows(pool, { merchantId: owner.merchantId, count: 3_000, days: 40, until, batch: 1 });
  await pool.end();
  const rows = await reportOf(owner, { type: "payments" });
  const expected = await admin.rows<{ id: string; amount: string; currency: string; at: string; net: string }>(
    `select id, amount, currency, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
       case when captured_amount = 0 then 0 else captured_amount - refunded_amount - fee_amount end::text as net
     from payments where merchant_id = $1 and created_at >= $2 and created_at < $3 order by created_at, id`,
    [owner.merchantId, from.toISOString(), to.toISOString()],
  );
  assert.ok(expected.length > 2_000);
  assert.deepEqual(
    rows.map(({ id, amount, currency, created_at, net_amount }) => ({
      id,
      amount,
      currency,
      at: created_at,
      net: net_amount,
    })),
    expected,
  );
  for (const { amount = "", amount_decimal, currency } of rows) {
    const digits = currency === "KWD" ? 3 : 2;
    assert.equal(amount_decimal, (Number(amount) / 10 ** digits).toFixed(digits));
  }
  const refunds = await reportOf(owner, { type: "refunds", columns: ["payment_id", "id", "reference"] });
  const [{ n } = { n: 0 }] = await admin.rows<{ n: number }>(
    "select count(*)::int as n from refunds where merchant_id = $1 and created_at >= $2 and created_at < $3",
    [owner.merchantId, from.toISOString(), to.toISOString()],
  );
  assert.ok(n > 10);
  assert.equal(refunds.length, n);
  assert.deepEqual(Object.keys(refunds[0] ?? {}), ["payment_id", "id", "reference"], "the wanted order");
});

test("a report of every type can be written, also of a merchant without a row", async () => {
  const owner = newOwner();
  for (const type of reportTypes) {
    const id = await order(owner, { type });
    await make();
    const names = reportColumns[type].map(({ name }) => name);
    assert.equal(await fileOf(owner, id), `\ufeff${names.join(",")}\r\n`);
    const report = await findReport(db, owner, id);
    assert.deepEqual([report?.status, report?.progress, report?.rows], ["ready", 100, 0n]);
  }
});

test("the columns of balance transactions are the fields of the API, amounts with decimals", () => {
  const names = reportColumns.balance_transactions.map(({ name }) => name).filter((name) => !name.endsWith("_decimal"));
  assert.deepEqual(names.toSorted(), BalanceTransactionSchema.fields.map(({ name }) => name).toSorted());
});

test("killed between any two pieces, the next process goes on: the file is whole, and each row once", async () => {
  const owner = newOwner();
  await addMovements(owner, 60);
  const columns = ["id", "amount", "net_decimal"];
  const whole = await reportOf(owner, { type: "balance_transactions", columns });
  assert.equal(whole.length, 60);
  const turns = fc.array(
    fc.record({ pieces: fc.integer({ min: 0, max: 4 }), pageRows: fc.integer({ min: 1, max: 25 }) }),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(turns, async (killed) => {
      const id = await order(owner, { type: "balance_transactions", columns });
      for (const size of killed) {
        const work = await claimReport(db, newId("request"));
        if (!work) break;
        await makeReport(deps, work, size);
        // The process is killed: its lease ends by itself.
        await admin.rows("update reports set leased_until = now() - interval '1 second' where id = $1", [id]);
      }
      await make();
      assert.deepEqual(parse(await fileOf(owner, id)), whole);
      const report = await findReport(db, owner, id);
      assert.equal(report?.rows, 60n);
      const events = await admin.rows("select from outbox where position($1::bytea in body) > 0", [Buffer.from(id)]);
      assert.equal(events.length, 1, "announced once");
    }),
    { numRuns: 25 },
  );
});

test("a process that lost its lease stores no piece and finishes nothing", async () => {
  const owner = newOwner();
  await addMovements(owner, 30);
  const id = await order(owner, { type: "balance_transactions" });
  const late = await claimReport(db, "late");
  assert(late);
  assert.equal(await claimReport(db, "other"), undefined, "it is leased");
  await admin.rows("update reports set leased_until = now() - interval '1 second' where id = $1", [id]);
  const other = await claimReport(db, "other");
  assert(other);
  assert.equal(await makeReport(deps, other, { pieces: 2, pageRows: 10 }), false);
  await makeReport(deps, late, { pieces: 50, pageRows: 10 });
  const between = await findReport(db, owner, id);
  assert.deepEqual([between?.status, between?.rows], ["running", 20n]);
  await admin.rows("update reports set leased_until = now() - interval '1 second' where id = $1", [id]);
  await make();
  assert.equal(parse(await fileOf(owner, id)).length, 30);
});

test("a payout's lines come behind it, then the part that no transaction explains", async () => {
  const owner = newOwner();
  const explained = await addPayout(owner, 1, 0);
  await addMovements(owner, 25, explained);
  const [sum] = await admin.rows<{ net: string }>("select sum(net)::text as net from movements where payout_id = $1", [
    explained,
  ]);
  const amount = Number(sum?.net);
  await admin.rows(
    "update payouts set amount = $2::bigint + 7, lines_amount = $2, unattributed_amount = 7 where id = $1",
    [explained, amount],
  );
  const empty = await addPayout(owner, -500, null, new Date(from.getTime() + 1_000));
  await addPayout(owner, 900, 900, to);
  const rows = await reportOf(owner, { type: "payout_reconciliation" }, { pageRows: 4, pieces: 3 });
  assert.deepEqual(
    rows.map(({ payout_id, type, net }) => [payout_id, type, type === "unattributed" ? net : ""]),
    [
      ...Array.from({ length: 25 }, () => [explained, "capture", ""]),
      [explained, "unattributed", "7"],
      [empty, "unattributed", "-500"],
    ],
  );
  assert.equal(new Set(rows.map(({ id }) => id)).size, 26, "each transaction once; the rest has no id");
  for (const payoutId of [explained, empty]) {
    const lines = rows.filter(({ payout_id }) => payout_id === payoutId);
    const net = lines.reduce((total, line) => total + Number(line.net), 0);
    assert.equal(net, Number(lines[0]?.payout_amount), "the lines sum to the payout");
  }
  assert.deepEqual([rows.at(-1)?.payout_amount_decimal, rows.at(-1)?.arrival_date], ["-5.00", "2026-03-05"]);
});

test("no spreadsheet computes a buyer's text, and a negative amount stays a number", async () => {
  const owner = newOwner();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  await insertPaymentRows(pool, { merchantId: owner.merchantId, count: 1, days: 1, until: to, batch: 1 });
  await pool.end();
  await admin.rows(`update payments set description = '=HYPERLINK("http://evil.example")' where merchant_id = $1`, [
    owner.merchantId,
  ]);
  const [row] = await reportOf(owner, { type: "payments" });
  assert.equal(row?.description, `'=HYPERLINK("http://evil.example")`);
  await addPayout(owner, -1, -1);
  const [line] = await reportOf(owner, { type: "payout_reconciliation" });
  assert.deepEqual([line?.net, line?.net_decimal], ["-1", "-0.01"]);
});

test("what was recorded after the report was ordered, or is outside its range, is left out", async () => {
  const owner = newOwner();
  await addMovements(owner, 3);
  const id = await order(owner, { type: "balance_transactions", from, to: new Date(from.getTime() + 2_000) });
  await addMovements(owner, 1, null, 10);
  await admin.rows("alter table movements disable trigger movement_stays");
  await admin.rows(
    "update movements set posted_at = now(), occurred_at = $2, available_at = $2 where ref = 'bt_10' and merchant_id = $1",
    [owner.merchantId, from.toISOString()],
  );
  await admin.rows("alter table movements enable trigger movement_stays");
  await make();
  assert.deepEqual(
    parse(await fileOf(owner, id)).map(({ occurred_at }) => occurred_at),
    ["2026-03-01T00:00:00.000Z", "2026-03-01T00:00:01.000Z"],
  );
});

test("a report of now waits until what was being written is committed", async () => {
  const owner = newOwner();
  const id = await order(owner, {
    type: "payments",
    from: new Date(Date.now() - 60_000),
    to: new Date(Date.now() + 60_000),
  });
  await admin.rows("update reports set created_at = now() where id = $1", [id]);
  assert.equal(await claimReport(db, "early"), undefined);
  await admin.rows("update reports set created_at = now() - interval '6 seconds' where id = $1", [id]);
  assert.equal((await claimReport(db, "late"))?.id, id);
});

const refused = async (owner: Owner, wanted: Order, field: string) => {
  await assert.rejects(order(owner, wanted), (error) => {
    assert.ok(error instanceof Failure && error.reason === "INVALID_BODY");
    return error.violations[0]?.field === field;
  });
};

test("a wrong order is refused with its field, and so is an eleventh unfinished report", async () => {
  const owner = newOwner();
  await refused(owner, { type: "sales" as ReportType }, "type");
  await refused(owner, { type: "payments", columns: ["id", "iban"] }, "columns[1]");
  await refused(owner, { type: "payments", columns: ["id", "amount", "id"] }, "columns[2]");
  await refused(owner, { type: "payments", from: to, to: from }, "from");
  await refused(owner, { type: "payments", from, to: new Date(from.getTime() + 367 * 86_400_000) }, "to");
  const at = { from, to: new Date(from.getTime() + 366 * 86_400_000) };
  const made = await Promise.allSettled(Array.from({ length: 14 }, () => order(owner, { type: "payments", ...at })));
  assert.equal(made.filter(({ status }) => status === "fulfilled").length, 10);
  await refused(owner, { type: "payments" }, "type");
  await make();
  await order(owner, { type: "payments" });
  await make();
});

test("a report with more than ten million rows fails, and so does one of which no piece can be written", async () => {
  const owner = newOwner();
  await addMovements(owner, 5);
  const large = await order(owner, { type: "balance_transactions" });
  await admin.rows("update reports set rows = $2 where id = $1", [large, reportRowsMax - 4n]);
  const broken = await order(owner, { type: "balance_transactions" });
  await admin.rows("update reports set tries = 20 where id = $1", [broken]);
  await make();
  const read = async (id: string) => {
    const { status, failure } = (await findReport(db, owner, id)) ?? {};
    return [status, failure];
  };
  assert.deepEqual(await read(large), ["failed", "too_many_rows"]);
  assert.deepEqual(await read(broken), ["failed", "internal_error"]);
  await assert.rejects(readReportFile(deps, owner, { id: large, offset: 0n }), Failure);
});

test("another merchant, the other environment and an expired file are not found; the sweep deletes the bytes", async () => {
  const owner = newOwner();
  await addMovements(owner, 5);
  const id = await order(owner, { type: "balance_transactions" });
  await assert.rejects(readReportFile(deps, owner, { id, offset: 0n }), Failure, "not ready");
  await make();
  assert.ok((await fileOf(owner, id)).length > 100);
  for (const other of [newOwner(), { ...owner, environment: 2 as const }]) {
    assert.equal(await findReport(db, other, id), undefined);
    await assert.rejects(readReportFile(deps, other, { id, offset: 0n }), Failure);
  }
  const [kept] = await admin.rows<{ days: number }>(
    "select extract(day from expires_at - now())::int as days from reports where id = $1",
    [id],
  );
  assert.ok(kept && kept.days >= 29 && kept.days <= 30);
  await admin.rows("update reports set expires_at = now() - interval '1 second' where id = $1", [id]);
  await sweepReports(db);
  assert.equal((await findReport(db, owner, id))?.status, "expired");
  await assert.rejects(readReportFile(deps, owner, { id, offset: 0n }), Failure);
  assert.deepEqual(await admin.rows("select from report_pieces where report_id = $1", [id]), []);
});

test("the bytes are encrypted, and a new encryption key of the service leaves them readable", async () => {
  const owner = newOwner();
  await addMovements(owner, 50);
  const id = await order(owner, { type: "balance_transactions" });
  await make();
  const [piece] = await admin.rows<{ bytes: Buffer }>("select bytes from report_pieces where report_id = $1", [id]);
  assert.ok(piece && !piece.bytes.includes("txn_"));
  const file = await fileOf(owner, id);
  const nextKey = randomBytes(32);
  const both = (...ids: ("k1" | "k2")[]) =>
    new Vault(new Map(ids.map((name) => [name, name === "k1" ? rowKey : nextKey])));
  const next = both("k2", "k1");
  const column = sealedColumns.payments.find(({ table }) => table === "reports");
  assert(column);
  assert.ok((await reencryptColumn(db, next, column)) >= 1);
  const { bytes } = await readReportFile({ db, vault: next }, owner, { id, offset: 0n });
  assert.equal(Buffer.from(bytes).toString(), file);
  // For the other tests.
  await reencryptColumn(db, both("k1", "k2"), column);
});

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Writes and reads the report. @returns the peak of the process's memory meanwhile, without garbage, MB */
async function peakOf(owner: Owner, id: string): Promise<number> {
  let peak = 0;
  const sampler = setInterval(() => {
    collect();
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 200);
  await make();
  const report = await findReport(db, owner, id);
  for (let offset = 0n; offset < (report?.size ?? 0n); ) {
    offset += BigInt((await readReportFile(deps, owner, { id, offset })).bytes.length);
  }
  clearInterval(sampler);
  return Math.round(peak / 1_048_576);
}

test("the memory for a report of 200,000 rows is that for 20,000", async () => {
  const owner = newOwner();
  const [few, rows] = [20_000, 200_000];
  for (let begin = 0; begin < rows; begin += few) await addMovements(owner, few, null, begin);
  const some = { type: "balance_transactions", from, to: new Date(from.getTime() + few * 1_000) } as const;
  const before = await peakOf(owner, await order(owner, some));
  const id = await order(owner, { type: "balance_transactions" });
  const began = performance.now();
  const peak = await peakOf(owner, id);
  const report = await findReport(db, owner, id);
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(`  ${report?.rows} rows, ${report?.size} bytes, ${seconds} s, at most ${before} MB, then ${peak} MB`);
  assert.equal(report?.rows, BigInt(rows));
  assert.ok(peak - before < 60, `${peak - before} MB more`);
});

test.run();
