// Operators' RPCs of payments: operations with an unproven outcome, statement differences, fee schedules, diagnosis.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Outbox } from "#platform/events/outbox.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import { FeeService } from "#proto/payments/v1/fee_pb.ts";
import { OperatorService, Resolution } from "#proto/payments/v1/operator_pb.ts";
import { StatementService } from "#proto/payments/v1/statement_pb.ts";
import { checkJournal } from "../../../services/payments/jobs/check-journal.ts";
import { openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("operators", { timeoutMs: 30_000 });

// Otherwise the first poll of the event list would settle operations that a test parks.
const services = fixture(test, () => startMoneyServices({ ignoresEvents: true }));
const db = fixture(test, () => openDatabase(services.paymentsDatabaseUrl));
const money = fixture(test, () => merchantMoney(services, db));
const peer = fixture(test, () => connectPeer({ url: services.urls.payments, token: services.settings.RPC_TOKEN }));
const operators = fixture(test, () => peer.client(OperatorService));
const fees = fixture(test, () => peer.client(FeeService));
const statements = fixture(test, () => peer.client(StatementService));
test.afterEach(() => services.processor("DELETE", "/test/faults"));

/** A parked refund whose outcome the processor does not report. @param kind whether the processor made it */
async function parkedRefund(kind: "error_before" | "error_after"): Promise<{ paymentId: string; operationId: string }> {
  const paymentId = await money.paid();
  await refundFaults(kind);
  const { refund } = await services.payments.refundPayment({ ...money.owner, paymentId, amount: 400n });
  assert.equal(refund?.status, "pending");
  return { paymentId, operationId: await park(refund.id) };
}

/** The only audit entry of an operator's action. */
async function audited(action: string, objectId: string) {
  const log = connectPeer({ url: services.urls.merchant, token: services.settings.RPC_TOKEN });
  try {
    return await eventually(`${action} in the audit log`, async () => {
      const { entries } = await log.client(AuditService).listAuditEntries({ action, objectId });
      assert(entries.length <= 1);
      return entries[0];
    });
  } finally {
    log.close();
  }
}

/** Refunds cannot be read, and their creation fails. */
async function refundFaults(create: string): Promise<void> {
  await money.fault("api.refunds.create", create, { count: undefined });
  await money.fault("api.refunds.get", "error_before", { count: undefined });
}

async function park(reference: string): Promise<string> {
  const [row] = await db.rows<{ id: string }>(
    `update operations set state = 'parked' where reference = $1 and state = 'started' returning id`,
    [reference],
  );
  assert(row);
  return row.id;
}

const resolver = { operator: "ada@example.com", proof: "dashboard of today, ticket 4711" };

async function refusedField(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => assert.fail("was not refused"),
    (cause) => cause,
  );
  assert(error instanceof Failure && error.reason === "INVALID_BODY", String(error));
  return error.violations[0]?.field ?? "";
}

/** Payments whose row a test has changed by hand: the auditor is right to report them. */
const falsified = new Set<string>();

async function booksAgree(): Promise<void> {
  const found: unknown[] = [];
  await checkJournal(db, (one) => {
    if (!falsified.has(one.paymentId)) found.push(one);
  });
  assert.deepEqual(found, []);
}

test("lists a parked operation with its payment and amount, and its history with the cause", async () => {
  const { paymentId, operationId } = await parkedRefund("error_after");
  const { operations, total } = await operators.listParkedOperations({ limit: 200 });
  const listed = operations.find(({ id }) => id === operationId);
  assert.equal(listed?.paymentId, paymentId);
  assert.equal(listed?.amount, 400n);
  assert.equal(Number(total), operations.length);
  const { operation, history } = await operators.getOperation({ operationId });
  assert.equal(operation?.state, "parked");
  assert.deepEqual(
    history.map(({ fact, operator }) => `${fact}${operator}`),
    ["in_doubt"],
  );
  assert.match(history[0]?.note ?? "", /500/);
});

test("refuses an operator's resolution that the processor contradicts; a retry applies the processor's answer", async () => {
  const { paymentId, operationId } = await parkedRefund("error_after");
  await services.processor("DELETE", "/test/faults");
  const never = { ...resolver, operationId, resolution: Resolution.NEVER_HAPPENED };
  assert.equal(await refusedField(operators.resolveOperation(never)), "resolution");
  assert.equal((await money.record(paymentId)).refundedAmount, 400n);
  const { operation } = await operators.retryOperation({
    operationId,
    operator: resolver.operator,
    note: "it is back",
  });
  assert.equal(operation?.state, "started");
  const done = await eventually("the operation to end", async () => {
    const found = await operators.getOperation({ operationId });
    return found.operation?.state === "done" && found.history.length === 3 && found;
  });
  assert.deepEqual(
    done.history.map(({ fact }) => fact),
    ["in_doubt", "retried", "asked"],
  );
  assert.equal((await money.record(paymentId)).refunds[0]?.status, "succeeded");
  assert.equal((await audited("operation.retried", operationId)).details.operator, resolver.operator);
  assert.equal(await refusedField(operators.retryOperation({ operationId, operator: "ada" })), "operation_id");
});

test("a refund resolved as never made returns its amount once, and the operator's proof is kept", async () => {
  const { paymentId, operationId } = await parkedRefund("error_before");
  const never = { ...resolver, operationId, resolution: Resolution.NEVER_HAPPENED };
  const both = await Promise.allSettled([operators.resolveOperation(never), operators.resolveOperation(never)]);
  assert.equal(both.filter(({ status }) => status === "fulfilled").length, 1);
  const payment = await money.record(paymentId);
  assert.equal(payment.refundedAmount, 0n);
  assert.equal(payment.refunds[0]?.failureCode, "resolved_by_operator");
  const { history } = await operators.getOperation({ operationId });
  const [resolved] = history.filter(({ fact }) => fact === "resolved");
  assert.equal(resolved?.operator, resolver.operator);
  assert.match(resolved?.note ?? "", /never happened: .*ticket 4711/);
  await booksAgree();
  const { details } = await audited("operation.resolved", operationId);
  const [refund] = payment.refunds;
  const of = { payment_id: paymentId, refund_id: refund?.id };
  assert.deepEqual(details, { ...of, operator: resolver.operator, resolution: "never_happened" });
});

test("a refund resolved as made is stored under the processor's id, which no other refund may have", async () => {
  const { paymentId, operationId } = await parkedRefund("error_after");
  const happened = { ...resolver, operationId, resolution: Resolution.HAPPENED };
  assert.equal(await refusedField(operators.resolveOperation(happened)), "connector_ref");
  await db.rows(
    `update refunds set connector_ref = 'rf_taken' where id =
    (select id from refunds where payment_id <> $1 and connector_ref is null limit 1)`,
    [paymentId],
  );
  assert.equal(
    await refusedField(operators.resolveOperation({ ...happened, connectorRef: "rf_taken" })),
    "connector_ref",
  );
  await operators.resolveOperation({ ...happened, connectorRef: `rf_${operationId.slice(3)}` });
  const payment = await money.record(paymentId);
  assert.equal(payment.refunds[0]?.status, "succeeded");
  assert.equal(payment.status, "partially_refunded");
  await booksAgree();
});

test("resolving an intent as never made cancels its payment", async () => {
  const request = money.order();
  const forRequest = { reference: request.paymentId, count: undefined };
  await money.fault("api.intents.create", "error_before", forRequest);
  await money.fault("api.intents.get", "error_before", forRequest);
  await assert.rejects(services.payments.createIntent(request));
  const operationId = await park(request.paymentId);
  const happened = { ...resolver, operationId, resolution: Resolution.HAPPENED, connectorRef: "pi_x" };
  await services.processor("DELETE", "/test/faults");
  assert.equal(await refusedField(operators.resolveOperation(happened)), "resolution", "the processor has no intent");
  await operators.resolveOperation({ ...resolver, operationId, resolution: Resolution.NEVER_HAPPENED });
  const [row] = await db.rows<{ status: string }>(`select status from payments where id = $1`, [request.paymentId]);
  assert.equal(row?.status, "canceled");
});

test("reading a payment settles a refund that has been pending for long", async () => {
  const paymentId = await money.paid();
  await refundFaults("error_after");
  await services.payments.refundPayment({ ...money.owner, paymentId, amount: 400n });
  await services.processor("DELETE", "/test/faults");
  assert.equal((await money.record(paymentId)).refunds[0]?.status, "pending", "too recent to be checked");
  await db.rows(`update refunds set created_at = now() - interval '1 hour' where payment_id = $1`, [paymentId]);
  // The first read may be answered before the check it starts has ended.
  await eventually(
    "the refund to be settled",
    async () => (await money.record(paymentId)).refunds[0]?.status === "succeeded",
  );
});

/** Compares the last hour of the test's account. */
async function match() {
  const [row] = await db.rows<{ id: string }>(`select connector_account_id as id from payments limit 1`);
  const [from, to] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 60_000)].map(timestampFromDate);
  assert(row && from && to);
  return await statements.matchStatement({ connectorAccountId: row.id, from, to });
}

async function openDifferences() {
  const { differences } = await statements.listStatementDifferences({ limit: 200 });
  const last = await statements.listStatementDifferences({ limit: 200, beforeId: 2n ** 63n - 1n });
  assert.equal(last.differences.length, differences.length, "the largest valid id starts a page like any other");
  return differences.map(({ object, kind, ref, paymentId }) => ({ object, kind, ref, paymentId }));
}

test("a statement match applies missed changes of our own payments and lists the remaining differences in both directions", async () => {
  await match();
  const known = new Set((await openDifferences()).map(({ ref }) => ref));
  const fresh = async () => (await openDifferences()).filter(({ ref }) => !known.has(ref));
  const missed = money.order();
  await services.payments.createIntent(missed);
  await services.processor("POST", `/test/intents/${await money.refOf(missed.paymentId)}/pay`, {
    card: "4242424242424242",
  });
  const refunded = await money.paid();
  await services.processor("POST", `/test/intents/${await money.refOf(refunded)}/refunds`, { amount: 300 });
  const foreign = await services.processor("POST", "/api/intents", {
    amount: 500,
    currency: "EUR",
    reference: "shop-7",
  });
  const foreignRef = String(membersOf(foreign.body).id);
  await services.processor("POST", `/test/intents/${foreignRef}/pay`, { card: "4242424242424242" });
  const result = await match();
  assert.equal(result.imported, 2, "a payment whose buyer never returned, and a dashboard refund");
  assert.equal((await money.record(missed.paymentId)).status, "succeeded");
  assert.equal((await money.record(refunded)).refundedAmount, 300n);
  assert.deepEqual(await fresh(), [{ object: "payment", kind: "unknown_to_us", ref: foreignRef, paymentId: "" }]);
  // An id that the processor never issued.
  await db.rows(`update payments set connector_ref = 'pi_gone' where id = $1`, [missed.paymentId]);
  falsified.add(missed.paymentId);
  await match();
  assert.deepEqual(
    (await fresh()).map(({ kind, ref, paymentId }) => [kind, ref, paymentId]).filter(([, , id]) => id !== ""),
    [["unknown_to_processor", "pi_gone", missed.paymentId]],
  );
  await booksAgree();
});

test("a payment is charged by the most specific fee schedule in effect; only future ones can be removed", async () => {
  const { merchantId } = services;
  const schedule = (change: object, effectiveFrom?: Date) => ({
    schedule: {
      key: {
        merchantId,
        currency: "EUR",
        connector: "*",
        ...(effectiveFrom && { effectiveFrom: timestampFromDate(effectiveFrom) }),
      },
      basisPoints: 150,
      fixedAmount: 25n,
      operator: resolver.operator,
      ...change,
    },
  });
  const quote = async (at?: Date) => {
    const quoteInput = { merchantId, currency: "EUR", connector: "simulator", amount: 1_000n };
    const quoted = await fees.quoteFee({ ...quoteInput, ...(at && { at: timestampFromDate(at) }) });
    return quoted.feeAmount;
  };
  assert.equal(await quote(), 59n, "2.9 % + 30 for all merchants");
  await fees.setFeeSchedule(schedule({}));
  const nextYear = new Date(Date.now() + 365 * 86_400_000);
  await fees.setFeeSchedule(schedule({ basisPoints: 0, fixedAmount: 1n }, nextYear));
  await eventually("the schedule to be in effect", async () => (await quote()) === 40n);
  assert.equal(await quote(new Date(Date.now() - 60_000)), 59n, "the past is unchanged");
  assert.equal(await quote(nextYear), 1n);
  const paymentId = await money.paid();
  assert.equal((await money.record(paymentId)).feeAmount, 40n);
  const { schedules, total } = await fees.listFeeSchedules({ merchantId, limit: 10 });
  assert.equal(Number(total), 2);
  const [now, later] = schedules;
  assert(now?.key && later?.key);
  assert.equal(await refusedField(fees.removeFeeSchedule({ key: now.key })), "key.effective_from");
  await fees.removeFeeSchedule({ key: later.key });
  assert.equal(await quote(nextYear), 40n);
  const published = await db.rows<{ n: string }>(
    "select split_part(subject, 'fee_schedule.', 2) as n from outbox where subject like '%fee_schedule.%' order by seq",
  );
  assert.deepEqual(
    published.map(({ n }) => n),
    ["set", "set", "removed"],
    "each change is announced for the audit log",
  );
  await booksAgree();
});

test("neither RPC nor SQL changes a schedule in effect or adds two with the same key and beginning", async () => {
  const { merchantId } = services;
  const begins = new Date(Date.now() + 3_600_000);
  const at = (when: Date) => ({
    schedule: {
      key: { merchantId, currency: "JPY", connector: "*", effectiveFrom: timestampFromDate(when) },
      basisPoints: 100,
      operator: resolver.operator,
    },
  });
  await fees.setFeeSchedule(at(begins));
  assert.equal(await refusedField(fees.setFeeSchedule(at(begins))), "schedule.key.effective_from");
  for (const tooEarly of [-60_000, 1_000]) {
    const refused = fees.setFeeSchedule(at(new Date(Date.now() + tooEarly)));
    assert.equal(await refusedField(refused), "schedule.key.effective_from");
  }
  const inSql = (statement: string) => assert.rejects(db.rows(statement), /fee schedule/);
  await inSql(`insert into fee_schedules values ('${merchantId}', 'USD', '*', now() - interval '1 second', 1, 1)`);
  await inSql(`update fee_schedules set basis_points = 1 where merchant_id = '*'`);
  await inSql(`delete from fee_schedules where merchant_id = '*'`);
});

test("a payment's diagnosis lists what waits for an operator or the broker, and nothing of another payment", async () => {
  const { paymentId, operationId } = await parkedRefund("error_after");
  const other = await money.paid();
  const event = { type: "payment.refunded", merchantId: services.merchantId, environment: services.environment };
  const announced = new Outbox({ namespace: services.settings.NATS_NAMESPACE, source: "payments" });
  const { ids, bodies } = announced.toRows([{ ...event, objectId: paymentId, status: "refunded", at: new Date() }]);
  // No stream accepts this subject, so the relay cannot publish it.
  await db.rows(`insert into outbox (event_id, subject, body) values ($1, 'nowhere', $2)`, [ids[0], bodies[0]]);
  try {
    const { lines } = await operators.tellPayment({ objectId: paymentId });
    const text = lines.map(({ part, id, what }) => `${part} ${id} ${what}`).join("\n");
    assert.match(text, new RegExp(`next ${operationId} create_refund for re_\\w+ waits for an operator`));
    assert.match(text, new RegExp(`operation ${operationId} create_refund for .*: parked, tries`));
    assert.match(text, new RegExp(`event ${ids[0]} payment\\.refunded is not published yet`));
    assert.ok(!text.includes(other));
    assert.equal(lines.at(-1)?.part, "next");
    const { lines: others } = await operators.tellPayment({ objectId: other });
    assert.ok(others.every(({ id }) => id !== ids[0] && id !== operationId));
  } finally {
    await db.rows(`delete from outbox where event_id = any($1)`, [ids]);
  }
  await assert.rejects(operators.tellPayment({ objectId: newId("payment") }), (error) => {
    return error instanceof Failure && error.reason === "NOT_FOUND";
  });
});

test.run();
