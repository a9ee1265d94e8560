// The statement job compares an account's statement day by day up to an hour ago, reads every page, and alerts once for
// each difference.
import assert from "node:assert/strict";
import { register } from "prom-client";
import { matchStatement, type StatementMatch } from "../../../services/payments/flows/match-statement.ts";
import { matchNextStatement } from "../../../services/payments/jobs/match-statements.ts";
import { paymentsMetrics } from "../../../services/payments/metrics.ts";
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { paymentsDeps } from "./deps.ts";

const test = suite("matching statements", { timeoutMs: 30_000 });

const services = fixture(test, () => startMoneyServices());
const deps = fixture(test, () => paymentsDeps(services, 30));
const db = fixture(
  test,
  () => deps.db,
  () => {},
);
const money = fixture(test, () => merchantMoney(services, db));
test.before(async () => {
  await money.paid();
});
test.afterEach(() => services.processor("DELETE", "/test/faults"));

/** @returns the processor's id of a new paid intent */
const paidIntent = async () => await money.refOf(await money.paid());

const hourMs = 3_600_000;

/** Compares the hour that ended the given hours ago. */
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

test("an account's match begins a day before its first capture", async () => {
  assert.equal(await matchNextStatement(deps), true);
  const [row] = await db.rows<{ since: number }>(
    "select count(*)::int as since from statement_matches where matched_until > now() - interval '25 hours'",
  );
  assert.equal(row?.since, 1);
});

test("days are compared one after the other up to an hour ago, then the account waits for a day", async () => {
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

test("an account whose statement cannot be read keeps its position and is retried an hour later", async () => {
  await setMatchedUntil(72);
  await money.fault("api.statement.get", "error_before", { count: undefined });
  assert.equal(await matchNextStatement(deps), true);
  const { behind, due, error } = await readMatchState();
  assert.deepEqual([behind, due], [72, 1]);
  assert.match(error, /CONNECTOR_ERROR/);
});

test("the last hour is not compared and not marked as compared", async () => {
  await setMatchedUntil(0);
  assert.equal(await matchNextStatement(deps), true);
  const { behind, due } = await readMatchState();
  assert.deepEqual([behind, due], [0, 24]);
});

test("every page of a statement is read", async () => {
  const pageOfProcessor = 500;
  const [payments, refundsOfOne] = [6, 90];
  const refundAll = async (ref: string) => {
    for (let i = 0; i < refundsOfOne; i++) {
      const { status, body } = await services.processor("POST", `/test/intents/${ref}/refunds`, { amount: 1 });
      assert.ok(status < 300, JSON.stringify(body));
    }
  };
  const refs = [];
  for (let i = 0; i < payments; i++) refs.push(await paidIntent());
  await Promise.all(refs.map(refundAll));
  const { lines, differences } = await matchHour(0);
  assert.ok(lines > pageOfProcessor, String(lines));
  assert.equal(differences, 0);
});

test("a movement that the processor dates in another hour is no difference", async () => {
  const ref = await paidIntent();
  await db.rows("update payments set captured_at = captured_at - interval '5 hours' where connector_ref = $1", [ref]);
  assert.deepEqual(await matchHour(5), { lines: 0, imported: 0, differences: 0, resolved: 0 });
});

test("a difference alerts once, a mismatched intent each time it is found", async () => {
  const ref = await paidIntent();
  await db.rows("update payments set currency = 'USD' where connector_ref = $1", [ref]);
  const [differences, mismatches] = [await alerts("statement_difference"), await alerts("intent_mismatch")];
  for (const times of [1, 2]) {
    assert.equal((await matchHour(0)).differences, 1);
    assert.equal(await alerts("statement_difference"), differences + 1);
    assert.equal(await alerts("intent_mismatch"), mismatches + times);
  }
});

test.run();
