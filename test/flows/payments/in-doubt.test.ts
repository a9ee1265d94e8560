// Operations with an unknown outcome, on a scripted processor: when payments by token, refunds and intents are looked
// up, sent again, ended or parked.
import assert from "node:assert/strict";
import { fromBinary } from "@bufbuild/protobuf";
import { register } from "prom-client";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { cancelIntent } from "../../../services/payments/flows/cancel-intent.ts";
import { createIntent } from "../../../services/payments/flows/create-intent.ts";
import { createPayment, type PaymentRequest } from "../../../services/payments/flows/create-payment.ts";
import { type RefundRequest, refundPayment } from "../../../services/payments/flows/refunds/refund-payment.ts";
import { resolveFunds } from "../../../services/payments/flows/unexpected-funds/resolve-funds.ts";
import { checkPayments, driveOperations } from "../../../services/payments/jobs/reconcile.ts";
import type { IntentFact } from "../../../services/payments/rules/payment.ts";
import { findOperation, recordResend, rotateKey } from "../../../services/payments/store/operations.ts";
import { findPayment } from "../../../services/payments/store/payments.ts";
import { fundsAbout } from "../../../services/payments/store/suspense.ts";
import { suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { capturedFact, keyLifeSeconds, mount, noAnswer, notSent, owner, playedPayments, reportOf } from "./played.ts";

const test = suite("operations in doubt", { timeoutMs: 20_000 });

const played = playedPayments(test);

const nothingAt = (at: Date) => ({ kind: "not_found", at, cause: new Error("nothing") }) as const;
const began = new Date("2026-01-01T12:00:00Z");

function byToken(): PaymentRequest & { readonly resumeOnly: boolean } {
  const what = {
    amount: 1_000n,
    currency: "EUR",
    description: "",
    orderReference: "",
    customerEmail: "",
    metadata: {},
  };
  return {
    ...owner,
    ...what,
    id: newId("payment"),
    paymentMethod: "pm_1",
    captureMethod: "automatic",
    resumeOnly: false,
  };
}

async function stateOf(paymentId: string) {
  const [row] = await played.db.rows<{ visible: boolean; status: string; ref: string | null; has_render: boolean }>(
    "select visible, status, connector_ref as ref, render is not null as has_render from payments where id = $1",
    [paymentId],
  );
  return row ?? assert.fail("no payment");
}

async function operationOf(paymentId: string) {
  return (await findOperation(played.db, "create_intent", paymentId)) ?? assert.fail("no operation");
}

test("a payment by token that its caller never saw is looked up and not sent again", async () => {
  const request = byToken();
  played.answers.payIntent = () => {
    throw new Error("the process ends here");
  };
  await assert.rejects(createPayment(played.deps, request));
  played.calls.length = 0;
  played.answers = { findIntent: () => nothingAt(began) };
  await played.due(request.id);
  await driveOperations(played.deps);
  assert.deepEqual(played.calls, ["findIntent"]);
});

test("a payment by token that was reported is neither sent again nor looked up, as its reference may be changed", async () => {
  const request = byToken();
  played.answers.payIntent = () => noAnswer;
  await createPayment(played.deps, request);
  await played.settleReport(request.id, { facts: [capturedFact()] });
  played.calls.length = 0;
  await played.due(request.id);
  await driveOperations(played.deps);
  assert.deepEqual([played.calls, (await operationOf(request.id)).state], [[], "done"]);
});

test("a payment by token that the processor accepted but did not start is pending", async () => {
  const request = byToken();
  played.answers.payIntent = () => ({ kind: "pending", value: reportOf(request.id) });
  assert.equal((await createPayment(played.deps, request)).status, "pending");
  assert.equal((await stateOf(request.id)).visible, true);
});

test("a payment by token that was reported as not sent is neither sent nor looked up later", async () => {
  const request = byToken();
  played.answers.payIntent = () => notSent;
  await assert.rejects(createPayment(played.deps, request), isRefusal("CONNECTOR_ERROR"));
  played.calls.length = 0;
  await played.due(request.id);
  await driveOperations(played.deps);
  assert.deepEqual(played.calls, []);
  assert.equal((await operationOf(request.id)).state, "done");
});

async function paid(): Promise<string> {
  const id = await played.payment();
  await played.settleReport(id, { facts: [capturedFact()] });
  return id;
}

function refundOf(paymentId: string, key?: string): RefundRequest {
  const scope = key && { ...owner, operation: "refund", key, fingerprint: Buffer.alloc(32) };
  return { ...owner, paymentId, amount: 400n, reason: "", idempotency: scope || undefined };
}

const refundsOf = (paymentId: string) =>
  played.db.rows<{ status: string }>("select status from refunds where payment_id = $1", [paymentId]);

test("a refund of an amount that the processor never accepts is refused before anything is written or sent", async () => {
  const id = await paid();
  played.refusal = "must end in 0";
  await assert.rejects(refundPayment(played.deps, refundOf(id)), (error) => {
    assert(error instanceof Failure);
    assert.equal(error.reason, "INVALID_BODY");
    return true;
  });
  assert.deepEqual(await refundsOf(id), []);
  assert.deepEqual(played.calls, []);
});

test("an unsent try of a refund proves nothing while another run of its key may have made it", async () => {
  const id = await paid();
  let answer = (_answer: unknown) => {};
  let arrived = () => {};
  const firstIsThere = new Promise<void>((resolve) => (arrived = resolve));
  played.answers.createRefund = () => {
    arrived();
    return new Promise((resolve) => (answer = resolve));
  };
  const first = refundPayment(played.deps, refundOf(id, "key-1"));
  await firstIsThere;
  played.answers = { findRefund: () => nothingAt(began), createRefund: () => noAnswer };
  assert.equal((await refundPayment(played.deps, refundOf(id, "key-1"))).refund?.status, "pending");
  answer(notSent);
  // The other run has stored the key's answer.
  await assert.rejects(first, isRefusal("IDEMPOTENCY_CONFLICT"));
  assert.deepEqual(await refundsOf(id), [{ status: "pending" }]);
});

test("an open circuit uses no tries and sends nothing", async () => {
  const id = await played.payment();
  played.isDown = true;
  for (let i = 0; i < 15; i++) {
    await played.due(id);
    await driveOperations(played.deps);
  }
  assert.deepEqual(played.calls, []);
  const { state, tries } = await operationOf(id);
  assert.deepEqual([state, tries], ["started", 1]);
});

test("an intent whose creation got no answer is found and stored with its form", async () => {
  const id = await played.payment();
  played.answers.findIntent = () => ({ kind: "succeeded", value: { report: reportOf(id), mount } });
  await played.due(id);
  await driveOperations(played.deps);
  const { ref, has_render } = await stateOf(id);
  assert.deepEqual([ref, has_render], [`pi_${id}`, true]);
});

/** A payment whose intent provably was never made. */
async function neverMade() {
  const id = await played.payment();
  for (const afterSeconds of [0, keyLifeSeconds]) {
    played.answers.findIntent = () => nothingAt(new Date(began.getTime() + afterSeconds * 1_000));
    await played.due(id);
    await driveOperations(played.deps);
  }
  played.calls.length = 0;
  return id;
}

/** Repeats the request that created the payment's intent. */
async function repeatCreation(id: string) {
  const payment = (await findPayment(played.db, id)) ?? assert.fail("no payment");
  const { amount, captureMethod } = payment.state;
  const rest = {
    description: "",
    orderReference: "",
    customerEmail: "",
    metadata: {},
    returnUrl: "",
    connectorId: "",
    lineItems: [],
    paymentMethods: [],
    resumeOnly: true,
  };
  return await createIntent(played.deps, { ...payment, ...rest, amount, captureMethod });
}

const unfinishedSearch = { kind: "unknown", cause: new Error("long lists"), resumeAfter: "after page 10" } as const;

test("an intent that provably was never made is made under a new key by a repeated request, after another lookup", async () => {
  const id = await neverMade();
  assert.equal((await operationOf(id)).state, "done");
  played.answers.createIntent = () => ({ kind: "succeeded", value: { report: reportOf(id), mount } });
  await repeatCreation(id);
  assert.deepEqual(played.calls, ["findIntent", "findIntent", "createIntent"]);
  const { state, generation } = await operationOf(id);
  assert.deepEqual([state, generation], ["done", 2]);
});

test("a lookup that is too long for one call continues where it stopped, also on a finished operation", async () => {
  const id = await neverMade();
  played.answers.findIntent = () => unfinishedSearch;
  await assert.rejects(cancelIntent(played.deps, id), isRefusal("CONNECTOR_ERROR"));
  assert.equal((await operationOf(id)).searchAfter, unfinishedSearch.resumeAfter);
});

test("nothing is sent under a replaced key, and a key that is sent again is not replaced", async () => {
  const id = await played.payment();
  played.answers.findIntent = async () => {
    await played.db.rows("update operations set generation = 2 where payment_id = $1", [id]);
    return nothingAt(began);
  };
  await assert.rejects(repeatCreation(id), isRefusal("CONNECTOR_ERROR"));
  assert.deepEqual(played.calls, ["findIntent"]);
  const operation = await operationOf(id);
  assert(await recordResend(played.db, operation));
  await assert.rejects(rotateKey(played.db, operation, 1), isRefusal("SERVICE_UNAVAILABLE"));
});

async function alerts(kind: string): Promise<number> {
  const metric = await register.getSingleMetric("tollbooth_money_alerts_total")?.get();
  return metric?.values.find(({ labels }) => labels.kind === kind)?.value ?? 0;
}

test("an operation without an outcome is parked for an operator, with an alert", async () => {
  const id = await played.payment();
  const before = await alerts("operation_parked");
  for (let i = 0; i < 20 && (await operationOf(id)).state === "started"; i++) {
    await played.due(id);
    await driveOperations(played.deps);
  }
  assert.equal((await operationOf(id)).state, "parked");
  assert.equal(await alerts("operation_parked"), before + 1);
});

test("a payment that stays in progress for more than 14 days is reported at each check, and nothing is concluded", async () => {
  const processing = (days: number): IntentFact => {
    const startedAt = new Date(Date.now() - days * 86_400_000);
    return {
      kind: "processing_started",
      attempt: { ref: "at_1", startedAt, card: undefined, verification: undefined },
    };
  };
  for (const [days, expected] of [
    [13, 0],
    [15, 1],
  ] as const) {
    const id = await played.payment();
    const report = reportOf(id, { facts: [processing(days)] });
    await played.settleReport(id, report);
    played.answers.retrieveIntent = () => ({ kind: "succeeded", value: report });
    const before = await alerts("processing_too_long");
    await played.checkDue(id);
    await checkPayments(played.deps);
    assert.equal((await alerts("processing_too_long")) - before, expected, `${days} days`);
    assert.equal((await stateOf(id)).status, "processing");
  }
});

test("an unpaid intent is checked until an hour after its expiry, and then canceled", async () => {
  const minutes = (n: number) => new Date(Date.now() + n * 60_000);
  for (const [expiresAt, expected] of [
    [minutes(30), ["retrieveIntent"]],
    [minutes(-30), ["retrieveIntent"]],
    [minutes(-61), ["cancelIntent"]],
  ] as const) {
    const id = await played.payment({ expiresAt });
    await played.settleReport(id, {});
    played.calls.length = 0;
    played.answers.retrieveIntent = () => ({ kind: "succeeded", value: reportOf(id) });
    played.answers.cancelIntent = () => noAnswer;
    await played.checkDue(id);
    await checkPayments(played.deps);
    assert.deepEqual(played.calls, expected, expiresAt.toISOString());
  }
});

test("an operator's decision about unexpected funds is in the audit log before anything is sent", async () => {
  const id = await played.payment();
  const report = reportOf(id, { amount: 900n, facts: [capturedFact(900n)] });
  await played.settleReport(id, report);
  const [item] = await fundsAbout(played.db, "simulator", report.ref);
  assert(item);
  played.answers.retrieveIntent = () => noAnswer;
  const input = { suspenseId: item.id, action: "refund", operator: "ann", note: "a reduced price" } as const;
  await assert.rejects(resolveFunds(played.deps, input), isRefusal("CONNECTOR_ERROR"));
  const rows = await played.db.rows<{ body: Buffer }>(
    "select body from outbox where subject like '%operation.suspense_resolved'",
  );
  const events = rows.map(({ body }) => fromBinary(EventSchema, body)).filter(({ objectId }) => objectId === item.id);
  assert.deepEqual(
    events.map(({ attributes }) => ({ ...attributes })),
    [{ action: "refund", operator: "ann", payment_id: id }],
  );
});

test.run();
