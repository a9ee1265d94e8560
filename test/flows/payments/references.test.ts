// An intent's reference is metadata that the merchant's staff can edit or clear at the processor. Our books decide
// whose intent it is: an edited reference changes nothing, through whichever channel a report arrives.
import assert from "node:assert/strict";
import { register } from "prom-client";
import { newId } from "#platform/values/id.ts";
import type { DisputeReport, IntentReport, RefundReport } from "../../../services/payments/connectors/connector.ts";
import { cancelIntent } from "../../../services/payments/flows/cancel-intent.ts";
import { matchStatement } from "../../../services/payments/flows/match-statement.ts";
import { applyProcessorEvent } from "../../../services/payments/flows/receive-processor-event.ts";
import {
  type RebuildDeps,
  rebuildPayment,
  unknownOrder,
} from "../../../services/payments/flows/recovery/rebuild-payment.ts";
import { verifyIntent } from "../../../services/payments/flows/verify-intent.ts";
import { type PollDeps, pollEvents } from "../../../services/payments/jobs/poll-events.ts";
import { checkPayments, driveOperations } from "../../../services/payments/jobs/reconcile.ts";
import { paymentsMetrics } from "../../../services/payments/metrics.ts";
import type { StatementLine } from "../../../services/payments/rules/statement.ts";
import { findRecord } from "../../../services/payments/store/payment-records.ts";
import { adoptIntent, findPayment } from "../../../services/payments/store/payments.ts";
import { fundsAbout, insertFunds } from "../../../services/payments/store/suspense.ts";
import { suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";
import { capturedFact, mount, owner, playedPayments, reportOf } from "./played.ts";

const test = suite("references of intents", { timeoutMs: 30_000 });
const paidAt = new Date("2026-01-01T12:00:00Z");
const text = { reference: "", reason: "", failureCode: "", failureMessage: "" };
const played = playedPayments(test);

const accountOf = async () => await played.deps.accounts.byId("mco_test");
const eventId = () => `evt_${newId("event").slice(4)}`;

/** An event about the intent. @param isBare it has the intent's id only, without report and reference */
function event(report: IntentReport, isBare = false) {
  const about = isBare ? { report: undefined, intentRef: report.ref, isUnclaimed: true } : { report, intentRef: "" };
  return { id: eventId(), type: "intent.updated", createdAt: paidAt, ...about };
}

/** Polls an event list with this report. */
async function poll(report: IntentReport): Promise<void> {
  await played.db.rows(
    `insert into event_cursors (connector_account_id, read_until) values ('mco_test', $1)
     on conflict (connector_account_id) do update set read_until = excluded.read_until, due_at = now()`,
    [paidAt.toISOString()],
  );
  const readEvents = async () => ({ kind: "succeeded", value: { events: [event(report)], next: "" } });
  const connector = { ...played.deps.connectors.get("simulator"), readEvents };
  const accounts = { ...played.deps.accounts, takeUsed: () => [] };
  const connectors = { get: () => connector, find: () => connector };
  await pollEvents({ ...played.deps, accounts, connectors, eventPollSeconds: 60 } as unknown as PollDeps);
}

/** Matches a statement with the report's movements. */
async function match(report: IntentReport): Promise<void> {
  const line = { intentRef: report.ref, currency: "EUR", status: "" };
  const lines: StatementLine[] = [
    { ...line, object: "payment", ref: report.ref, amount: 1_000n },
    ...report.refunds.map(({ ref, amount, status }) => ({ ...line, object: "refund" as const, ref, amount, status })),
    ...report.disputes.map(({ ref, amount, status }) => ({ ...line, object: "dispute" as const, ref, amount, status })),
  ];
  played.answers.readStatement = () => ({ kind: "succeeded", value: { lines, next: "" } });
  await matchStatement(played.deps, await accountOf(), { from: paidAt, to: new Date(paidAt.getTime() + 1_000) });
}

const channels: Readonly<Record<string, (paymentId: string, report: IntentReport) => Promise<unknown>>> = {
  "a webhook": async (_id, report) => await applyProcessorEvent(played.deps, await accountOf(), event(report)),
  "a webhook without a report": async (_id, report) =>
    await applyProcessorEvent(played.deps, await accountOf(), event(report, true)),
  "the event list": async (_id, report) => await poll(report),
  "the buyer's return": async (id) => await verifyIntent(played.deps, id, "reconcile"),
  "the reconcile job": async (id) => {
    await played.checkDue(id);
    await checkPayments(played.deps);
  },
  "the statement": async (_id, report) => await match(report),
  "a rebuild": async (id) => {
    const lost = { ...unknownOrder, ...owner, id: id as never, sessionId: "" };
    await rebuildPayment(played.deps as unknown as RebuildDeps, lost);
  },
};

const dispute: DisputeReport = {
  ref: "dp_1",
  amount: 700n,
  status: "needs_response",
  reason: "fraudulent",
  openedAt: paidAt,
  evidenceDueAt: undefined,
};
const refund: RefundReport = { ...text, ref: "rf_1", amount: 300n, status: "succeeded", createdAt: paidAt };

async function alerts(): Promise<number> {
  return (
    (await paymentsMetrics(register).moneyAlerts.get()).values.find(({ labels }) => labels.kind === "intent_mismatch")
      ?.value ?? 0
  );
}

async function journalOf(id: string): Promise<string[]> {
  const rows = await played.db.rows<{ line: string }>(
    "select kind || ' ' || amount as line from journal where payment_id = $1 order by id",
    [id],
  );
  return rows.map(({ line }) => line);
}

async function announced(id: string): Promise<string[]> {
  const rows = await played.db.rows<{ subject: string }>(
    "select subject from outbox where position($1::bytea in body) > 0 order by seq",
    [Buffer.from(id)],
  );
  return rows.map(({ subject }) => subject.replace("test.events.payments.", ""));
}

/** Refunds a paid payment and loses a dispute, after the reference changed. @returns its books */
async function story(channel: string, referenceOf: (own: string, other: string) => string) {
  const [id, other] = [await played.payment(), await played.payment()];
  await played.settleReport(id, { facts: [capturedFact()] });
  const before = await alerts();
  const reference = referenceOf(id, other);
  const about = { facts: [capturedFact()], refunds: [{ ...refund, ref: `rf_${id}` }], reference };
  for (const status of ["needs_response", "lost"] as const) {
    const report = reportOf(id, { ...about, disputes: [{ ...dispute, ref: `dp_${id}`, status }] });
    played.answers.retrieveIntent = () => ({ kind: "succeeded", value: report });
    await channels[channel]?.(id, report);
  }
  const record = await findRecord(played.db, owner, id);
  const books = { status: record?.status, net: record?.netAmount, journal: await journalOf(id) };
  const nothing = { other: await journalOf(other), outcome: (await findPayment(played.db, other))?.state.outcome };
  return { ...books, ...nothing, events: await announced(id), alerts: (await alerts()) - before };
}

const edits: Readonly<Record<string, (own: string, other: string) => string>> = {
  "is cleared": () => "",
  "is edited": () => "order 7",
  "names another payment": (_own, other) => other,
  "names a payment that we do not have": () => newId("payment"),
};

for (const channel of Object.keys(channels)) {
  test(`reports of a paid intent by ${channel} book the same whatever its reference is`, async () => {
    const right = await story(channel, (own) => own);
    assert.deepEqual([right.status, right.net, right.other, right.outcome], ["disputed", -59n, [], "pending"]);
    assert.equal(right.alerts, 0);
    for (const [what, referenceOf] of Object.entries(edits)) {
      const { alerts: raised, ...books } = await story(channel, referenceOf);
      assert.deepEqual({ ...books, alerts: 0 }, right, what);
      assert.ok(raised > 0, `${what}: an alert`);
    }
  });
}

test("a second charge stays with its payment when its reference is edited", async () => {
  const [id, other] = [await played.payment(), await played.payment()];
  await played.settleReport(id, { facts: [capturedFact()] });
  const second = { ref: `pi_second_${id}`, facts: [capturedFact()] };
  await played.settleReport(id, second);
  const back = { ...second, refunds: [{ ...refund, ref: `rf_${id}`, amount: 1_000n }], reference: other };
  await applyProcessorEvent(played.deps, await accountOf(), event(reportOf(id, back)));
  const due = await played.db.rows("select id from suspense where payment_id = $1 and next_look_at <= now()", [id]);
  assert.equal(due.length, 1, "a check is due");
  await played.settleReport(id, back);
  const items = await fundsAbout(played.db, "simulator", second.ref);
  assert.deepEqual(
    items.map(({ paymentId, resolution }) => [paymentId, resolution]),
    [[id, "given_back"]],
  );
  assert.deepEqual(await journalOf(other), []);
});

test("an event without our reference starts a check of known intents only", async () => {
  const stranger = event(reportOf(newId("payment"), { ref: "pi_stranger" }), true);
  assert.equal(await applyProcessorEvent(played.deps, await accountOf(), stranger), true);
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
  await assert.rejects(cancelIntent(played.deps, other), refused("CONNECTOR_ERROR"));
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
