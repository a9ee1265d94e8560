// Unexpected funds on a real PostgreSQL with a scripted processor: each row opens once, follows the processor, and ends
// by its answer or an operator's decision. The auditor checks the books after each step.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import { booksDifferences } from "../../../services/payments/audit/books.ts";
import { booksAfter } from "../../../services/payments/audit/read-books.ts";
import type { IntentReport, RefundReport } from "../../../services/payments/connectors/connector.ts";
import { cancelIntent } from "../../../services/payments/flows/cancel-intent.ts";
import { matchStatement } from "../../../services/payments/flows/match-statement.ts";
import { applyProcessorEvent } from "../../../services/payments/flows/receive-processor-event.ts";
import {
  type RebuildDeps,
  rebuildPayment,
  unknownOrder,
} from "../../../services/payments/flows/recovery/rebuild-payment.ts";
import { refundFunds } from "../../../services/payments/flows/unexpected-funds/refund-funds.ts";
import { resolveFunds } from "../../../services/payments/flows/unexpected-funds/resolve-funds.ts";
import { checkUnexpectedFunds } from "../../../services/payments/jobs/check-unexpected-funds.ts";
import { driveOperations } from "../../../services/payments/jobs/reconcile.ts";
import { adoptIntent, findPayment } from "../../../services/payments/store/payments.ts";
import {
  claimFundsChecks,
  fundsAbout,
  insertFunds,
  type StoredFunds,
} from "../../../services/payments/store/suspense.ts";
import { suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { capturedFact, mount, noAnswer, owner, playedPayments, reportOf } from "./played.ts";

const test = suite("unexpected funds", { timeoutMs: 20_000 });
const at = new Date("2026-01-01T12:00:00Z");
const played = playedPayments(test);
test.beforeEach(() => played.db.rows("update suspense set next_look_at = null").then(() => {}));

let refundCount = 0;
function refund(amount: bigint, change: Partial<RefundReport> = {}): RefundReport {
  const text = { reference: "", reason: "", failureCode: "", failureMessage: "" };
  return { ...text, ref: `rf_${refundCount++}`, amount, status: "succeeded", createdAt: at, ...change };
}

/** The second intent of a payment, which was paid. */
function second(paymentId: string, change: Partial<IntentReport> = {}): IntentReport {
  const paid = capturedFact();
  const facts = [{ ...paid, attempt: { ...paid.attempt, ref: "at_2" } }];
  return reportOf(paymentId, { ref: `pi_second_${paymentId}`, facts, ...change });
}

/** The processor has these intents. */
function answers(...reports: readonly IntentReport[]): void {
  played.answers.retrieveIntent = (_account, ref) => {
    const value = reports.find((report) => report.ref === ref);
    return value ? { kind: "succeeded", value } : { kind: "not_found", at, cause: new Error("none") };
  };
}

async function paidPayment(): Promise<string> {
  const id = await played.payment();
  await played.settleReport(id, { facts: [capturedFact()] });
  return id;
}

/** A paid payment with a second charge. */
async function paidTwice(): Promise<string> {
  const id = await paidPayment();
  assert.deepEqual((await played.settleReport(id, second(id))).opened, ["second_charge"]);
  return id;
}

async function rowAbout(ref: string): Promise<StoredFunds> {
  return (await fundsAbout(played.db, "simulator", ref))[0] ?? assert.fail(`no row about ${ref}`);
}

/** State of the row and balance of `suspense`; the auditor must find the payment's books right. */
async function stateOf(paymentId: string, ref: string): Promise<readonly [state: string, balance: number]> {
  const { state, resolution } = await rowAbout(ref);
  const books = (await booksAfter(played.db, "", 1_000)).find(({ id }) => id === paymentId) ?? assert.fail("no books");
  assert.deepEqual(booksDifferences(books), []);
  return [`${state} ${resolution}`.trim(), await balance(paymentId, "suspense")];
}

async function balance(paymentId: string, account: string): Promise<number> {
  const [row] = await played.db.rows<{ balance: string }>(
    `select coalesce(sum(case $2 when credit then amount when debit then -amount end), 0) as balance
     from journal where payment_id = $1`,
    [paymentId, account],
  );
  return Number(row?.balance);
}

const decide = async (ref: string, action: "refund" | "accept" | "close") =>
  await resolveFunds(played.deps, { suspenseId: (await rowAbout(ref)).id, action, operator: "ann", note: "ticket 7" });

/** Runs the row's check now. @returns how often the processor was asked */
async function checked(ref: string): Promise<number> {
  const { id } = await rowAbout(ref);
  await played.db.rows("update suspense set next_look_at = now() where id = $1 and next_look_at is not null", [id]);
  const before = played.calls.length;
  await checkUnexpectedFunds(played.deps);
  return played.calls.length - before;
}

/** Minutes to the next check. */
async function nextCheck(ref: string): Promise<number | undefined> {
  const [row] = await played.db.rows<{ minutes: number | null }>(
    `select round(extract(epoch from next_look_at - now()) / 60)::int as minutes from suspense where connector_ref = $1`,
    [ref],
  );
  return row?.minutes ?? undefined;
}

test("a second charge opens one row however often it is reported, and none while nothing is paid there", async () => {
  const id = await paidPayment();
  assert.deepEqual((await played.settleReport(id, second(id, { facts: [] }))).opened, []);
  assert.deepEqual((await played.settleReport(id, second(id))).opened, ["second_charge"]);
  assert.deepEqual((await played.settleReport(id, second(id))).opened, []);
  assert.deepEqual(await stateOf(id, `pi_second_${id}`), ["open", 1_000]);
});

test("a refund without an answer is repeated under its key, and reopens the row when it provably was not made", async () => {
  const id = await paidTwice();
  const ref = `pi_second_${id}`;
  const keys: unknown[] = [];
  answers(second(id));
  played.answers.createRefund = (_account, _order, key) => {
    keys.push(key);
    return noAnswer;
  };
  played.time = new Date();
  await decide(ref, "refund");
  assert.equal((await rowAbout(ref)).state, "refunding");
  await assert.rejects(decide(ref, "close"), isRefusal("INVALID_BODY"));
  const { id: suspenseId } = await rowAbout(ref);
  assert.equal(await refundFunds(played.deps, suspenseId), "unknown");
  assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
  const past = "interval '100 days'";
  await played.db.rows(
    `update operations set key_since = now() - ${past}, not_found_since = now() - ${past} where reference = $1`,
    [suspenseId],
  );
  await assert.rejects(refundFunds(played.deps, suspenseId), isRefusal("CONNECTOR_ERROR"));
  assert.deepEqual(await stateOf(id, ref), ["open", 1_000]);
  await decide(ref, "refund");
  assert.deepEqual([keys.length, new Set(keys).size], [3, 2], "a new refund has a new key");
});

test("a second charge of the exact amount can be accepted as the unpaid payment's own", async () => {
  const id = await played.payment();
  await played.settleReport(id, {});
  const ref = `pi_second_${id}`;
  await played.settleReport(id, second(id));
  answers(second(id));
  assert.equal((await decide(ref, "accept")).state, "accepted");
  const payment = await findPayment(played.db, id);
  assert.deepEqual([payment?.connectorRef, payment?.status, payment?.state.capturedAmount], [ref, "succeeded", 1_000n]);
  assert.deepEqual(await stateOf(id, ref), ["accepted taken", 0]);
  await played.settleReport(id, { facts: [capturedFact()] });
  assert.deepEqual(await stateOf(id, `pi_${id}`), ["open", 1_000], "now the first intent is the second charge");
});

test("an intent of another amount never becomes the payment's; closing its row cancels the payment", async () => {
  const id = await played.payment();
  assert.equal((await played.settleReport(id, { amount: 900n })).mismatch, "amount");
  assert.deepEqual(await stateOf(id, `pi_${id}`), ["open", 0]);
  await decide(`pi_${id}`, "close");
  assert.equal((await findPayment(played.db, id))?.status, "canceled");
  await played.settleReport(id, { amount: 900n, facts: [capturedFact(900n)] });
  assert.deepEqual(await stateOf(id, `pi_${id}`), ["open", 900], "the processor's form was still open");
});

test("a second refund under our reference opens one row, which is accepted, fails, or is closed as our loss", async () => {
  for (const [end, is, suspense, adjustments] of [
    ["accept", "accepted taken", 0, 0],
    ["fail", "closed given_back", 0, 0],
    ["close", "closed closed", 0, -300],
  ] as const) {
    const id = await paidPayment();
    const first = refund(300n);
    await played.settleReport(id, { facts: [capturedFact()], refunds: [first] });
    const [known] = await played.db.rows<{ id: string }>("select id from refunds where payment_id = $1", [id]);
    const again = refund(300n, { reference: String(known?.id) });
    const report = (...refunds: readonly RefundReport[]) => ({ facts: [capturedFact()], refunds: [first, ...refunds] });
    assert.deepEqual((await played.settleReport(id, report(again))).opened, ["second_refund"]);
    assert.deepEqual((await played.settleReport(id, report(again))).opened, []);
    assert.deepEqual(await stateOf(id, again.ref), ["open", -300]);
    if (end === "fail") await played.settleReport(id, report({ ...again, status: "failed" }));
    else await decide(again.ref, end);
    assert.deepEqual(
      [...(await stateOf(id, again.ref)), await balance(id, "adjustments")],
      [is, suspense, adjustments],
    );
  }
});

test("a webhook about a known row only schedules a check, since webhooks overtake each other", async () => {
  const id = await paidTwice();
  const ref = `pi_second_${id}`;
  const back = refund(1_000n);
  const { deps } = played;
  const account = await deps.accounts.byId("");
  answers(second(id, { refunds: [{ ...back, status: "pending" }] }));
  const event = { id: newId("event"), createdAt: at, type: "refund.updated", report: undefined, intentRef: ref };
  await applyProcessorEvent(deps, account, { ...event, objectRef: back.ref });
  assert.deepEqual([await stateOf(id, ref), await nextCheck(ref)], [["open", 1_000], 0]);
  answers(second(id, { refunds: [back] }));
  assert.equal(await checked(ref), 1);
  assert.deepEqual([await stateOf(id, ref), await nextCheck(ref)], [["closed given_back", 0], 1]);
  assert.equal(await checked(ref), 1);
  assert.equal(await nextCheck(ref), undefined, "nothing has changed since it was closed");
});

test("an open row is checked daily by one replica, and every ten minutes while there is no answer", async () => {
  const id = await paidTwice();
  const ref = `pi_second_${id}`;
  answers(second(id));
  await checked(ref);
  assert.deepEqual([await stateOf(id, ref), await nextCheck(ref)], [["open", 1_000], 1_440]);
  played.answers.retrieveIntent = () => noAnswer;
  await checked(ref);
  answers();
  await checked(ref);
  assert.deepEqual([await stateOf(id, ref), await nextCheck(ref)], [["open", 1_000], 10]);
  await played.db.rows("update suspense set next_look_at = now() where payment_id = $1", [id]);
  await played.db.transaction(async (tx) => {
    assert.equal((await claimFundsChecks(tx, 5)).length, 1);
    assert.deepEqual(await claimFundsChecks(played.db, 5), []);
  });
});

test("a row that changed during its check is checked again after a minute", async () => {
  const id = await paidTwice();
  const ref = `pi_second_${id}`;
  played.answers.retrieveIntent = async () => {
    await played.settleReport(id, second(id, { refunds: [refund(300n)] }));
    return { kind: "succeeded", value: second(id) }; // from before the refund
  };
  assert.equal(await checked(ref), 1);
  assert.equal(await nextCheck(ref), 1);
});

test("a statement line about unexpected funds is no difference, and an unreported one opens a row", async () => {
  const id = await paidPayment();
  const ref = `pi_second_${id}`;
  answers(second(id), reportOf(id, { facts: [capturedFact()] }));
  const line = { object: "payment", amount: 1_000n, currency: "EUR", status: "" };
  const lines = [`pi_${id}`, ref].map((one) => ({ ...line, ref: one, intentRef: one }));
  played.answers.readStatement = () => ({ kind: "succeeded", value: { lines, next: "" } });
  // A period without captures.
  const period = { from: new Date(0), to: new Date(3_600_000) };
  for (const imported of [1, 0]) {
    const match = await matchStatement(played.deps, await played.deps.accounts.byId(""), period);
    assert.deepEqual([match.imported, match.differences], [imported, 0]);
  }
  assert.deepEqual(await stateOf(id, ref), ["open", 1_000]);
});

test("a rebuild skips a payment whose intent has a row, and fails when the processor does not answer", async () => {
  const rebuild = (id: string) => {
    const merchants = { listConnectors: () => assert.fail("a known payment must not be searched") };
    const deps = { ...played.deps, merchants: merchants as unknown as RebuildDeps["merchants"] };
    return rebuildPayment(deps, { ...unknownOrder, ...owner, id, sessionId: newId("session") });
  };
  for (const refunds of [[], [refund(900n)]]) {
    const id = await played.payment();
    await played.db.rows("update payments set connector_ref = $2 where id = $1", [id, `pi_${id}`]);
    const report = reportOf(id, { amount: 900n, facts: [capturedFact(900n)], refunds });
    await played.settleReport(id, report);
    answers(report);
    assert.equal((await rebuild(id)).outcome, RebuildOutcome.KNOWN);
  }
  const id = await paidPayment();
  played.answers.retrieveIntent = () => noAnswer;
  await assert.rejects(rebuild(id), isRefusal("CONNECTOR_ERROR"));
});

test("an event without our reference starts a check of known intents only", async () => {
  const about = { report: undefined, intentRef: "pi_stranger", isUnclaimed: true };
  const stranger = { id: newId("event"), createdAt: at, type: "intent.updated", ...about };
  assert.equal(await applyProcessorEvent(played.deps, await played.deps.accounts.byId(""), stranger), true);
  assert.deepEqual(played.calls, []);
});

test("a payment without an intent neither adopts nor cancels another payment's intent that has its reference", async () => {
  const [id, other] = [await played.payment(), await played.payment()];
  await played.settleReport(id, { facts: [] });
  const report = reportOf(id, { reference: other });
  played.answers.findIntent = () => ({ kind: "succeeded", value: { report, mount } });
  played.answers.cancelIntent = () => ({ kind: "succeeded", value: report });
  await played.due(other);
  await driveOperations(played.deps);
  await assert.rejects(cancelIntent(played.deps, other), isRefusal("CONNECTOR_ERROR"));
  assert.equal((await findPayment(played.db, other))?.connectorRef, "");
  assert.equal(played.calls.includes("cancelIntent"), false);
});

test("the database refuses an intent in the books of two payments", async () => {
  const [id, other] = [await played.payment(), await played.payment()];
  await played.settleReport(id, { facts: [capturedFact()] });
  const where = { connector: "simulator", connectorAccountId: "mco_test", currency: "EUR" };
  const charge = { ...owner, ...where, refundId: "", kind: "second_charge" } as const;
  const list = (paymentId: string, connectorRef: string) =>
    played.db.transaction((tx) => insertFunds(tx, { ...charge, id: newId("suspense"), paymentId, connectorRef }));
  const twice = { code: "23505", constraint: "intent_has_one_payment" };
  await assert.rejects(list(other, `pi_${id}`), twice);
  await list(id, `pi_${id}`);
  await list(id, `pi_second_${id}`);
  await assert.rejects(
    played.db.transaction((tx) => adoptIntent(tx, other, `pi_second_${id}`)),
    twice,
  );
  await assert.rejects(list(other, `pi_second_${id}`), twice);
});

test.run();
