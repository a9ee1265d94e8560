// The journal checker on a real database: green after flows, and every planted difference is found by the job and by the command.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Database } from "#platform/database.ts";
import { newId } from "#platform/id.ts";
import { createLog } from "#platform/log.ts";
import { checkJournal, checkNextStretch } from "../../services/payments/jobs/check-journal.ts";
import { type MoneyServices, startMoneyServices } from "../harness/money-services.ts";
import { suite } from "../harness/suite.ts";

const test = suite("journal check on a database", { timeoutMs: 30_000 });
let services: MoneyServices;
let db: Database;
let paymentId = "";

test.before(async () => {
  services = await startMoneyServices();
  db = await Database.open({ url: services.paymentsDatabaseUrl, name: "test", log: createLog("test", "fatal") });
  paymentId = await paidAndRefunded();
});
test.after(async () => {
  await db.close();
  await services.stop();
});

async function paidAndRefunded(): Promise<string> {
  const { merchantId, environment, payments, processor } = services;
  const id = newId("payment");
  const expiresAt = timestampFromDate(new Date(Date.now() + 3_600_000));
  const owner = { merchantId, environment };
  await payments.createIntent({
    ...owner,
    sessionId: `cs_${id.slice(4)}`,
    paymentId: id,
    amount: 1_000n,
    currency: "EUR",
    expiresAt,
  });
  const [row] = await db.rows<{ connector_ref: string }>(`select connector_ref from payments where id = $1`, [id]);
  await processor("POST", `/test/intents/${row?.connector_ref}/pay`, { card: "4242424242424242" });
  await payments.verifyIntent({ paymentId: id });
  await payments.refundPayment({ ...owner, paymentId: id, amount: 300n });
  return id;
}

async function differences(): Promise<string> {
  const found: string[] = [];
  const checked = await checkJournal(db, (one) => found.push(`${one.paymentId}: ${one.differences.join("; ")}`));
  assert.ok(checked > 0);
  return found.join("\n");
}

/** Tampers with the books behind the triggers' back, looks, and puts everything back. */
async function planted(statement: string, expected: RegExp, undo: string): Promise<void> {
  const said = async (sql: string) => {
    await db.transaction(async (tx) => {
      await tx.rows("set local session_replication_role = replica");
      await tx.rows(sql.replaceAll("PAYMENT", `'${paymentId}'`));
    });
  };
  await said(statement);
  try {
    assert.match(await differences(), expected);
  } finally {
    await said(undo);
  }
  assert.equal(await differences(), "");
}

test("books written by the flows have no difference", async () => {
  assert.equal(await differences(), "");
});

test("a stored amount, a journal line and a refund that were tampered with are found", async () => {
  const amount = (column: string, by: number) =>
    `update payments set ${column} = ${column} + (${by}) where id = PAYMENT`;
  await planted(amount("refunded_amount", 1), /refunded amount is 301/, amount("refunded_amount", -1));
  await planted(amount("fee_amount", 1), /fee is 60/, amount("fee_amount", -1));
  await planted(amount("captured_amount", -1), /captured amount is 999/, amount("captured_amount", 1));
  const line = (by: number) =>
    `update journal set amount = amount + (${by}) where payment_id = PAYMENT and kind = 'captured'`;
  await planted(line(5), /captured amount is 1000, the books give 1005/, line(-5));
  const owner = (id: string) => `update journal set merchant_id = '${id}' where payment_id = PAYMENT`;
  await planted(owner("mer_other"), /another merchant/, owner(services.merchantId));
  const status = (to: string) => `update refunds set status = '${to}' where payment_id = PAYMENT`;
  await planted(status("failed"), /refund re_\w+ \(failed\) has paid 0, the journal gives 300/, status("succeeded"));
});

test("the job alerts with the payment's id, and passes over the rest of its hour", async () => {
  const lines: unknown[] = [];
  const log = createLog("test", "silent");
  Object.assign(log, { fatal: (fields: unknown) => lines.push(fields) });
  const look = async () => {
    await db.rows(`update journal_check set due_at = now()`);
    await checkNextStretch({ db, log });
  };
  await look();
  assert.deepEqual(lines, []);
  await db.rows(`update payments set fee_amount = 1 where id = $1`, [paymentId]);
  try {
    await checkNextStretch({ db, log });
    assert.deepEqual(lines, [], "not due again");
    await look();
    assert.match(JSON.stringify(lines), new RegExp(`journal_difference.*${paymentId}.*fee is 1, the books give 59`));
  } finally {
    await db.rows(`update payments set fee_amount = 59 where id = $1`, [paymentId]);
  }
});

test("the commands end with 0 on right books, and with 1 and the difference on wrong ones", async () => {
  const good = await command();
  assert.deepEqual([good.code, good.output.trim()], [0, "1 payments checked, 0 with differences"]);
  await db.rows(`update payments set fee_amount = 1 where id = $1`, [paymentId]);
  try {
    const bad = await command();
    assert.equal(bad.code, 1);
    assert.match(bad.output, new RegExp(`${paymentId}: fee is 1, the books give 59`));
    const told = await command("operator.ts", "journal", "check", "--json");
    assert.equal(told.code, 1);
    assert.deepEqual(JSON.parse(told.output), [{ payment_id: paymentId, difference: "fee is 1, the books give 59" }]);
  } finally {
    await db.rows(`update payments set fee_amount = 59 where id = $1`, [paymentId]);
  }
});

function command(name = "journal-check.ts", ...words: string[]): Promise<{ code: number; output: string }> {
  const script = join(import.meta.dirname, "../../deploy", name);
  const env = { ...process.env, DATABASE_URL: services.paymentsServiceUrl };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [script, ...words], { env, timeout: 20_000 }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });
}

test.run();
