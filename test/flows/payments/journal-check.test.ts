// The journal check on a real database: books that flows wrote have no difference, and the job and the command find
// every planted one. Amounts that merchants read are compared with numbers calculated by hand.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { register } from "prom-client";
import type { Sql, Tx } from "#platform/database/database.ts";
import { foldListCounts } from "#platform/lists/list-counts.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { auditAnnouncements } from "../../../services/payments/audit/announcements.ts";
import { auditListCounts, type CountDifference } from "../../../services/payments/audit/list-counts.ts";
import { booksAfter } from "../../../services/payments/audit/read-books.ts";
import { checkJournal, checkNextStretch } from "../../../services/payments/jobs/check-journal.ts";
import { bucketStarts } from "../../../services/payments/lists/counted-ranges.ts";
import { paymentsMetrics } from "../../../services/payments/metrics.ts";
import { findSchedule, insertSchedule } from "../../../services/payments/store/fee-schedules.ts";
import { journalFindings } from "../../../services/payments/store/processor/statements.ts";
import { openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("journal check on a database", { timeoutMs: 30_000 });
let paymentId = "";

const services = fixture(test, () => startMoneyServices());
const db = fixture(test, () => openDatabase(services.paymentsDatabaseUrl));
const money = fixture(test, () => merchantMoney(services, db));
test.before(async () => {
  paymentId = await money.paid();
  await services.payments.refundPayment({ ...money.owner, paymentId, amount: 300n });
});

/** The authorization ends uncaptured. */
async function lapse(id: string): Promise<void> {
  await services.processor("POST", `/test/intents/${await money.refOf(id)}/lapse`, {});
  await verifyPayment(id);
}

/** Asks the processor about the payment, as if no confirm had announced it. */
async function verifyPayment(paymentId: string): Promise<void> {
  await db.rows(`update payments set announced_by_confirm = false where id = $1`, [paymentId]);
  await services.payments.verifyIntent({ paymentId });
}

async function differences(sql: Sql = db): Promise<string> {
  const found: string[] = [];
  const checked = await checkJournal(sql, (one) => found.push(`${one.paymentId}: ${one.differences.join("; ")}`));
  assert.ok(checked > 0);
  return found.join("\n");
}

/** Works in a transaction that is rolled back, so that no job of the services sees or overwrites the change. */
async function undone(work: (tx: Tx) => Promise<void>): Promise<void> {
  const done = new Error("done");
  const rolledBack = db.transaction(async (tx) => {
    await work(tx);
    throw done;
  });
  await assert.rejects(rolledBack, (error) => error === done);
}

/** Changes the books past the triggers, and expects the check to report it. */
async function planted(statement: string, expected: RegExp): Promise<void> {
  await undone(async (tx) => {
    await tx.rows("set local session_replication_role = replica");
    await tx.rows(statement.replaceAll("PAYMENT", `'${paymentId}'`));
    assert.match(await differences(tx), expected);
  });
  assert.equal(await differences(), "");
}

async function countDifferences(): Promise<CountDifference[]> {
  const found: CountDifference[] = [];
  assert.ok((await auditListCounts(db, (one) => found.push(one))) > 0);
  return found;
}

async function missingAnnouncements(sql: Sql = db): Promise<string[]> {
  const found: string[] = [];
  assert.ok((await auditAnnouncements(sql, (id, missing) => found.push(`${id}: ${missing.join("; ")}`))) > 0);
  return found;
}

test("books written by the flows have no difference", async () => {
  assert.equal(await differences(), "");
});

/** The amounts that a merchant reads. */
async function read(id: string): Promise<readonly [status: string, fee: number, refunded: number, net: number]> {
  const payment = await money.record(id);
  return [payment.status, Number(payment.feeAmount), Number(payment.refundedAmount), Number(payment.netAmount)];
}

test("flows and auditor find the fee schedule that is in effect by hand", async () => {
  const { merchantId } = services;
  // The schedule for all merchants is 2.9 % + 30 since 2000; these begin in two seconds.
  const rates: [merchant: string, currency: string, connector: string, basisPoints: number, fixed: bigint][] = [
    ["*", "USD", "*", 900, 9n], // replaced by the later one with the same key
    ["*", "*", "adyen", 100, 1n],
    ["*", "USD", "adyen", 250, 3n],
    ["mer_own", "*", "*", 300, 4n],
    ["mer_own", "*", "adyen", 320, 6n],
    ["mer_own", "CAD", "*", 350, 5n],
    ["*", "USD", "*", 200, 2n],
    [merchantId, "CHF", "*", 150, 8n],
  ];
  for (const [of, currency, connector, basisPoints, fixedAmount] of rates) {
    const key = { merchantId: of, currency, connector, effectiveFrom: undefined };
    await insertSchedule(db, { ...key, basisPoints, fixedAmount, operator: "test", note: "" });
  }
  const worked: [merchant: string, currency: string, connector: string, basisPoints: number, fixed: number][] = [
    ["mer_other", "EUR", "stripe", 290, 30],
    ["mer_other", "EUR", "adyen", 100, 1],
    ["mer_other", "USD", "stripe", 200, 2],
    ["mer_other", "USD", "adyen", 250, 3],
    ["mer_own", "EUR", "stripe", 300, 4],
    ["mer_own", "USD", "stripe", 300, 4],
    ["mer_own", "USD", "adyen", 320, 6],
    ["mer_own", "CAD", "adyen", 350, 5],
  ];
  for (const [of, currency, connector, basisPoints, fixed] of worked) {
    const what = `${of} ${currency} ${connector}`;
    assert.deepEqual(
      await auditedRate({ of, currency, connector, at: "now() + interval '3 seconds'" }),
      [basisPoints, fixed],
      what,
    );
    assert.deepEqual(await auditedRate({ of, currency, connector, at: "now() - interval '1 day'" }), [290, 30], what);
    const found = await findSchedule(db, { merchantId: of, currency, connector }, new Date(Date.now() + 3_000));
    assert.deepEqual([found?.basisPoints, Number(found?.fixedAmount)], [basisPoints, fixed], what);
  }
  const begun = "select max(effective_from) <= now() as yes from fee_schedules";
  await eventually("the schedules to begin", async () => (await db.rows<{ yes: boolean }>(begun))[0]?.yes);
  const id = await money.paid({ amount: 1_100n, currency: "CHF" }); // 16.5, rounded 17, and 8
  assert.deepEqual(await read(id), ["succeeded", 25, 0, 1_075]);
  assert.equal(await differences(), "");
});

/** The rate that the auditor finds for a payment captured then. The payment is rolled back. */
async function auditedRate(of: { of: string; currency: string; connector: string; at: string }): Promise<number[]> {
  const id = newId("payment");
  let rates: number[] = [];
  await undone(async (tx) => {
    await tx.rows(
      `insert into payments (id, merchant_id, environment, amount, currency, connector, connector_account_id, surface, outcome,
         captured_amount, visible, authorized_at, captured_at, expires_at)
       values ($1, $2, 1, 100, $3, $4, 'mco_1', 'embedded', 'succeeded', 100, true, ${of.at}, ${of.at}, now())`,
      [id, of.of, of.currency, of.connector],
    );
    await tx.rows(
      `insert into journal (merchant_id, environment, currency, payment_id, kind, cause, debit, credit, amount, created_at)
       values ($2, 1, $3, $1, 'captured', 'at_1', 'processor_clearing', 'merchant_balance', 100, ${of.at})`,
      [id, of.of, of.currency],
    );
    const books = await booksAfter(tx, "", 1_000);
    rates = (books.find((one) => one.id === id)?.captures ?? []).flatMap(({ rate }) =>
      [rate.basisPoints, rate.fixed].map(Number),
    );
  });
  return rates;
}

test("changed amounts, fees, refunds, attempts and journal lines are found", async () => {
  const set = (assignment: string) => `update payments set ${assignment} where id = PAYMENT`;
  await planted(set("refunded_amount = refunded_amount + 1"), /refunded amount is 301/);
  await planted(set("fee_amount = fee_amount + 1"), /fee is 60/);
  await planted(set("captured_amount = captured_amount - 1"), /captured amount is 999/);
  const ofPayment = "where payment_id = PAYMENT";
  const line = `update journal set amount = amount + 5 ${ofPayment} and kind = 'captured'`;
  await planted(line, /captured amount is 1000, expected 1005/);
  await planted(`update journal set merchant_id = 'mer_other' ${ofPayment}`, /another merchant/);
  const left = /refund re_\w+ \(failed\) must leave 0 in processor_clearing, the journal has -300/;
  await planted(`update refunds set status = 'failed' ${ofPayment}`, left);
  const failed = `update attempts set outcome = 'failed' ${ofPayment}`;
  await planted(failed, /captured by attempt \w+, which did not succeed/);
  const feeInBoth = `with booked as (update journal set amount = 58 ${ofPayment} and kind = 'fee_charged')
     update payments set fee_amount = 58 where id = PAYMENT`;
  await planted(feeInBoth, /fee is 58, expected 59/);
});

test("money of one attempt that is both captured and in suspense is found, on its own payment and on another", async () => {
  const other = await money.paid();
  const captures = `(select p.*, j.cause from payments p join journal j on j.payment_id = p.id and j.kind = 'captured' where p.id = PAYMENT)`;
  const suspenseId = newId("suspense");
  // Each account and column is right; only the double use of the money is wrong.
  const hold = (holder: string) => `
    with item as (insert into suspense (id, kind, payment_id, merchant_id, environment, connector, connector_account_id, connector_ref,
        currency, amount, paid_by)
      select '${suspenseId}', 'other_amount', ${holder}, merchant_id, environment, connector, connector_account_id, connector_ref,
        currency, 1000, cause from ${captures} c)
    insert into journal (merchant_id, environment, currency, payment_id, kind, cause, debit, credit, amount)
    select merchant_id, environment, currency, ${holder}, 'suspense_held', '${suspenseId}', 'processor_clearing', 'suspense', 1000
    from ${captures} c`;
  const twice = `suspense ${suspenseId} holds 1000 of attempt \\w+, which captured`;
  await planted(hold("PAYMENT"), new RegExp(`^${paymentId}: ${twice} 1000$`));
  await planted(hold(`'${other}'`), new RegExp(`^${other}: ${twice} in ${paymentId}$`));
});

test("list totals equal the rows, folded or not, and a wrong total is found", async () => {
  const [{ n } = { n: 0 }] = await db.rows<{ n: number }>(`select count(*)::int as n from payments`);
  assert.ok(n >= 3);
  await foldListCounts(db, bucketStarts);
  await money.paid({ amount: 20n, currency: "JPY" });
  assert.deepEqual(await countDifferences(), []);
  const count = (by: number, grain: string) =>
    db.rows(
      `update list_counts set n = n + $1 where list = 'payments' and grain = $2 and (starts, status, bucket) =
         (select starts, status, bucket from list_counts where list = 'payments' and grain = $2 order by 1, 2, 3 limit 1)`,
      [by, grain],
    );
  for (const grain of ["day", "week"]) {
    await count(1, grain);
    const [found, ...more] = await countDifferences();
    assert.deepEqual(more, []);
    assert.deepEqual(
      [found?.list, found?.when.split(" ")[0], found?.counted],
      ["payments", grain, (found?.there ?? 0n) + 1n],
    );
    await count(-1, grain);
  }
  await db.rows(`insert into list_deltas values ($1, 1, 'refunds', now(), 'failed', null, 1)`, [services.merchantId]);
  assert.deepEqual(
    (await countDifferences()).map(({ list, status, counted, there }) => [list, status, counted - there]),
    [["refunds", "failed", 1n]],
  );
  await db.rows(`insert into list_deltas values ($1, 1, 'refunds', now(), 'failed', null, -1)`, [services.merchantId]);
  assert.deepEqual(await countDifferences(), []);
});

/** Deletes the payment's events of the type from the outbox. @returns how many there were */
async function deleteEvents(tx: Tx, type: string, id: string): Promise<number> {
  const deleted = await tx.rows(
    `delete from outbox where subject like '%payment.' || $1 and position($2::bytea in body) > 0 returning 1`,
    [type, Buffer.from(id)],
  );
  return deleted.length;
}

test("every change in the books was announced, and a missing announcement is found", async () => {
  assert.deepEqual(await missingAnnouncements(), []);
  const [refund] = await db.rows<{ id: string }>(`select id from refunds where payment_id = $1`, [paymentId]);
  for (const [type, missing] of [
    ["succeeded", "payment.succeeded"],
    ["refunded", `payment.refunded ${refund?.id}`],
  ] as const) {
    await undone(async (tx) => {
      assert.ok((await deleteEvents(tx, type, paymentId)) > 0);
      assert.deepEqual(await missingAnnouncements(tx), [`${paymentId}: ${missing}`]);
    });
  }
  assert.deepEqual(await missingAnnouncements(), []);
});

test("a missing announcement of a capture, or of an authorization's end, is found", async () => {
  const { payments } = services;
  const of = (paymentId: string) => ({ ...money.owner, paymentId });
  const cases: readonly (readonly [(id: string) => Promise<unknown>, string])[] = [
    [(id) => payments.capturePayment({ ...of(id), amount: 7n }), "captured"],
    [(id) => payments.cancelPayment(of(id)), "authorization_canceled"],
    [lapse, "authorization_expired"],
  ];
  for (const [end, type] of cases) {
    const id = await money.paid({ amount: 20n, captureMethod: "manual" });
    await end(id);
    assert.deepEqual(await missingAnnouncements(), []);
    await undone(async (tx) => {
      assert.equal(await deleteEvents(tx, type, id), 1);
      assert.deepEqual(await missingAnnouncements(tx), [`${id}: payment.${type}`]);
    });
  }
});

test("a missing announcement of a dispute's status is found", async () => {
  const id = await money.paid();
  const path = `/test/intents/${await money.refOf(id)}/disputes`;
  const { body: opened } = await services.processor("POST", path, { reason: "fraudulent" });
  for (const [status, missing] of [
    ["needs_response", "dispute.created|updated needs_response"],
    ["under_review", "dispute.created|updated under_review"],
    ["won", "dispute.won"],
  ] as const) {
    if (status !== "needs_response")
      await services.processor("POST", `/test/disputes/${(opened as { id: string }).id}`, { status });
    await verifyPayment(id);
    assert.deepEqual(await missingAnnouncements(), []);
    const [row] = await db.rows<{ id: string }>("select id from disputes where payment_id = $1", [id]);
    await undone(async (tx) => {
      await tx.rows(
        `delete from outbox where subject like '%.dispute.%' and position($1::bytea in body) > 0 and seq =
        (select max(seq) from outbox where subject like '%.dispute.%' and position($1::bytea in body) > 0)`,
        [Buffer.from(id)],
      );
      assert.deepEqual(await missingAnnouncements(tx), [`${id}: ${missing} ${row?.id}`]);
    });
  }
});

test("the job checks every payment, batch by batch, alerts for each difference, and then waits an hour", async () => {
  const batch = 1_000; // the job's
  const first = `pay_${"0".repeat(26)}`;
  const alarms = async () =>
    (await paymentsMetrics(register).moneyAlerts.get()).values.find(
      ({ labels }) => labels.kind === "journal_difference",
    )?.value ?? 0;
  const lines: { payment_id: string }[] = [];
  const log = createLog("test", "silent");
  Object.assign(log, { fatal: (fields: { payment_id: string }) => lines.push(fields) });
  const runCheck = () =>
    checkNextStretch({ db, log, metrics: paymentsMetrics(register), findings: journalFindings(db) });
  const before = await alarms();
  await db.rows(
    `insert into payments (id, merchant_id, environment, amount, currency, connector, connector_account_id, surface, visible, expires_at)
     select 'pay_' || lpad(n::text, 26, '0'), $1, 1, 100, 'EUR', 'simulator', 'mco_1', 'embedded', false, now() + interval '1 day'
     from generate_series(0, $2 - 1) n`,
    [services.merchantId, batch],
  );
  try {
    await db.rows(`update payments set fee_amount = 1 where id in ($1, $2)`, [first, paymentId]);
    await db.rows(`update journal_check set after_id = '', due_at = now()`);
    const alertedIds = () => lines.map((line) => line.payment_id);
    await runCheck();
    assert.deepEqual(alertedIds(), [first]);
    await runCheck();
    assert.deepEqual(alertedIds(), [first, paymentId]);
    assert.match(JSON.stringify(lines[1]), /journal_difference.*fee is 1, expected 59/);
    await runCheck();
    assert.equal(lines.length, 2, "not due again");
    assert.equal(await alarms(), before + 2);
  } finally {
    await db.rows(`update payments set fee_amount = 59 where id = $1`, [paymentId]);
    await db.rows(`delete from statement_differences where payment_id < 'pay_${"0".repeat(22)}9999'`);
    await db.rows(`delete from payments where id < 'pay_${"0".repeat(22)}9999'`);
  }
});

// It starts five processes.
const commandLimits = { timeoutMs: 120_000 };

test(
  "the command exits with 0 when the books are right, and with 1 and the difference when they are not",
  async () => {
    const good = await command();
    assert.deepEqual([good.code, good.output.replace(/\d+/, "n").trim()], [0, "n payments checked"]);
    await db.rows(`update payments set fee_amount = 1 where id = $1`, [paymentId]);
    try {
      const bad = await command();
      assert.equal(bad.code, 1);
      assert.match(bad.output, new RegExp(`${paymentId} +fee is 1, expected 59`));
      const result = await command("--json");
      assert.equal(result.code, 1);
      assert.deepEqual(JSON.parse(result.rows), [{ payment_id: paymentId, difference: "fee is 1, expected 59" }]);
    } finally {
      await db.rows(`update payments set fee_amount = 59 where id = $1`, [paymentId]);
    }
    await db.rows(`insert into list_deltas values ($1, 1, 'refunds', now(), 'failed', null, 1)`, [services.merchantId]);
    try {
      const bad = await command();
      const difference = /environment 1, day [\d-]+, failed: 1 counted, 0 there/;
      assert.match(bad.output, new RegExp(`refunds of ${services.merchantId} +${difference.source}`));
      const [reported] = JSON.parse((await command("--json")).rows);
      assert.equal(reported.about, `refunds of ${services.merchantId}`);
      assert.match(reported.difference, difference);
    } finally {
      await db.rows(`insert into list_deltas values ($1, 1, 'refunds', now(), 'failed', null, -1)`, [
        services.merchantId,
      ]);
    }
  },
  commandLimits,
);

interface CommandResult {
  readonly code: number;
  /** Standard output and error. */
  readonly output: string;
  /** Standard output alone. */
  readonly rows: string;
}

function command(...options: string[]): Promise<CommandResult> {
  const script = join(import.meta.dirname, "../../../deploy/cli/main.ts");
  const words = ["journal", "check", ...options];
  const env = { ...process.env, DATABASE_URL: services.paymentsServiceUrl };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [script, ...words], { env, timeout: 60_000 }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, output: stdout + stderr, rows: stdout }),
    );
  });
}

test.run();
