// How far the statement match comes: a day of an account at a time, up to an hour ago, and not a moment further than
// what was compared; and that it reads to the end, and tells.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { register } from "prom-client";
import type { Database } from "#platform/database/database.ts";
import { newId } from "#platform/values/id.ts";
import { matchStatement, type StatementMatch } from "../../../services/payments/flows/match-statement.ts";
import { matchNextStatement } from "../../../services/payments/jobs/match-statements.ts";
import { paymentsMetrics } from "../../../services/payments/metrics.ts";
import { type MoneyServices, startMoneyServices } from "../../harness/payments/money-services.ts";
import { suite } from "../../harness/suite.ts";
import { paymentsDeps } from "./deps.ts";

const test = suite("matching statements", { timeoutMs: 30_000 });
let services: MoneyServices;
let deps: Awaited<ReturnType<typeof paymentsDeps>>;
let db: Database;

test.before(async () => {
  services = await startMoneyServices();
  deps = await paymentsDeps(services, 30);
  db = deps.db;
  await paidPayment();
});
test.after(async () => {
  await deps.stop();
  await services.stop();
});
test.afterEach(() => services.processor("DELETE", "/test/faults"));

/** @returns the processor's id of it. */
async function paidPayment(): Promise<string> {
  const paymentId = newId("payment");
  const expiresAt = timestampFromDate(new Date(Date.now() + 3_600_000));
  const owner = { merchantId: services.merchantId, environment: services.environment };
  const sessionId = `cs_${paymentId.slice(4)}`;
  await services.payments.createIntent({ ...owner, paymentId, sessionId, amount: 1_000n, currency: "EUR", expiresAt });
  const [row] = await db.rows<{ ref: string }>("select connector_ref as ref from payments where id = $1", [paymentId]);
  await services.processor("POST", `/test/intents/${row?.ref}/pay`, { card: "4242424242424242" });
  await services.payments.verifyIntent({ paymentId });
  assert(row);
  return row.ref;
}

const hourMs = 3_600_000;

/** Compares an hour that ended so many hours ago. */
async function matchHour(hoursAgo: number): Promise<StatementMatch> {
  const [row] = await db.rows<{ id: string }>("select connector_account_id as id from payments limit 1");
  assert(row);
  const to = new Date(Date.now() - hoursAgo * hourMs + 60_000);
  return await matchStatement(deps, await deps.accounts.byId(row.id), { from: new Date(to.getTime() - hourMs), to });
}

async function alerts(kind: string): Promise<number> {
  const { values } = await paymentsMetrics(register).moneyAlerts.get();
  return values.find(({ labels }) => labels.kind === kind)?.value ?? 0;
}

interface MatchState {
  /** Hours before now that are not compared yet. */
  readonly behind: number;
  /** Hours until the account goes on. */
  readonly due: number;
  readonly error: string;
}

async function readMatchState(): Promise<MatchState> {
  const [row] = await db.rows<{ behind: number; due: number; error: string }>(
    `select round(extract(epoch from now() - matched_until) / 3600)::int as behind,
       round(extract(epoch from due_at - now()) / 3600)::int as due, last_error as error from statement_matches`,
  );
  assert(row);
  return row;
}

async function setMatchedUntil(hoursBehind: number): Promise<void> {
  await db.rows("update statement_matches set matched_until = now() - make_interval(hours => $1), due_at = now()", [
    hoursBehind,
  ]);
}

test("an account is taken up from a day before its first capture", async () => {
  assert.equal(await matchNextStatement(deps), true);
  const [row] = await db.rows<{ since: number }>(
    "select count(*)::int as since from statement_matches where matched_until > now() - interval '25 hours'",
  );
  assert.equal(row?.since, 1);
});

test("a day at a time is compared, at once one after the other, up to an hour ago; then the account waits for a day", async () => {
  await setMatchedUntil(72);
  const states: MatchState[] = [];
  for (let day = 0; day < 3; day++) {
    assert.equal(await matchNextStatement(deps), true);
    states.push(await readMatchState());
  }
  assert.deepEqual(states, [
    { behind: 48, due: 0, error: "" },
    { behind: 24, due: 0, error: "" },
    { behind: 1, due: 24, error: "" },
  ]);
  assert.equal(await matchNextStatement(deps), false, "none is due");
});

test("an account whose statement cannot be read stays where it stood, and is tried again an hour later", async () => {
  await setMatchedUntil(72);
  await services.processor("PUT", "/test/faults", { target: "api.statement.get", kind: "error_before" });
  assert.equal(await matchNextStatement(deps), true);
  const { behind, due, error } = await readMatchState();
  assert.deepEqual([behind, due], [72, 1]);
  assert.match(error, /CONNECTOR_ERROR/);
});

test("what is not an hour old yet is not compared, and is not said to be", async () => {
  await setMatchedUntil(0);
  assert.equal(await matchNextStatement(deps), true);
  const { behind, due } = await readMatchState();
  assert.deepEqual([behind, due], [0, 24]);
});

test("a statement is read to its last page", async () => {
  const pageOfProcessor = 500;
  const [payments, refundsOfOne] = [6, 90];
  const refundAll = async (ref: string) => {
    for (let i = 0; i < refundsOfOne; i++) {
      const { status, body } = await services.processor("POST", `/test/intents/${ref}/refunds`, { amount: 1 });
      assert.ok(status < 300, JSON.stringify(body));
    }
  };
  const refs = [];
  for (let i = 0; i < payments; i++) refs.push(await paidPayment());
  await Promise.all(refs.map(refundAll));
  const { lines, differences } = await matchHour(0);
  assert.ok(lines > pageOfProcessor, String(lines));
  assert.equal(differences, 0);
});

test("what moved in another hour there than with us is no difference", async () => {
  const ref = await paidPayment();
  await db.rows("update payments set captured_at = captured_at - interval '5 hours' where connector_ref = $1", [ref]);
  assert.deepEqual(await matchHour(5), { lines: 0, imported: 0, differences: 0, resolved: 0 });
});

test("a difference is alarmed once, however often it is found; an intent that is not ours, each time", async () => {
  const ref = await paidPayment();
  await db.rows("update payments set currency = 'USD' where connector_ref = $1", [ref]);
  const [differences, mismatches] = [await alerts("statement_difference"), await alerts("intent_mismatch")];
  for (const times of [1, 2]) {
    assert.equal((await matchHour(0)).differences, 1);
    assert.equal(await alerts("statement_difference"), differences + 1);
    assert.equal(await alerts("intent_mismatch"), mismatches + times);
  }
});

test.run();
