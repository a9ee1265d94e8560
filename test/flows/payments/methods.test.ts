// The methods that a payment's intent offers, and the refunds that the method of a payment allows, on a scripted
// processor.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import type { IntentOrder } from "../../../services/payments/connectors/order.ts";
import { createIntent } from "../../../services/payments/flows/create-intent.ts";
import { refundPayment } from "../../../services/payments/flows/refunds/refund-payment.ts";
import type { MethodTerms } from "../../../services/payments/rules/payment-method.ts";
import { suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { capturedFact, keyLifeSeconds, mount, noAnswer, owner, playedPayments, reportOf } from "./played.ts";

const test = suite("payment methods of payments", { timeoutMs: 20_000 });
const played = playedPayments(test);
const ideal: MethodTerms = {
  ...{ type: "ideal", currencies: ["EUR"], refund: "partial", delayed: false, disputes: false, manualCapture: false },
};

const orderOf = (paymentMethods: readonly string[], change: object = {}) => ({
  ...{ ...owner, id: newId("payment"), sessionId: newId("session"), amount: 1_000n, currency: "EUR", description: "" },
  ...{ orderReference: "", customerEmail: "", metadata: {}, captureMethod: "automatic" as const, returnUrl: "" },
  ...{ lineItems: [], expiresAt: new Date(Date.now() + 3_600_000), paymentMethods, connectorId: "", resumeOnly: false },
  ...change,
});

test("a repeated request sends the methods of the first one, although the merchant has chosen others since", async () => {
  played.methods = [...played.methods, ideal];
  played.chosen = ["card", "ideal"];
  const sent: (readonly string[] | undefined)[] = [];
  const request = orderOf([]);
  played.answers.createIntent = (_account, order) => {
    sent.push((order as IntentOrder).methods);
    return sent.length === 1 ? noAnswer : { kind: "succeeded", value: { report: reportOf(request.id), mount } };
  };
  await assert.rejects(createIntent(played.deps, request), isRefusal("CONNECTOR_ERROR"));
  played.chosen = ["card"];
  const began = Date.now();
  const absent = (seconds: number) => ({
    kind: "not_found",
    at: new Date(began + seconds * 1_000),
    cause: new Error("none"),
  });
  played.answers.findIntent = () => absent(0);
  await createIntent(played.deps, { ...request, resumeOnly: true }).catch(() => {});
  played.answers.findIntent = () => absent(keyLifeSeconds + 1);
  if (sent.length < 2) await createIntent(played.deps, { ...request, resumeOnly: true });
  assert.deepEqual(sent, [
    ["card", "ideal"],
    ["card", "ideal"],
  ]);
});

test("a method that is not switched on is refused before anything is written or sent", async () => {
  played.methods = [...played.methods, ideal];
  const request = orderOf(["ideal"]);
  await assert.rejects(createIntent(played.deps, request), isRefusal("INVALID_BODY"));
  assert.equal(played.calls.length, 0);
  assert.deepEqual(await played.db.rows("select id from payments where id = $1", [request.id]), []);
});

test("a refund follows the method's terms: only the whole, or none, with nothing reserved or sent", async () => {
  const paidBy = async (type: string) => {
    const id = await played.payment();
    const fact = capturedFact();
    await played.settleReport(id, { facts: [{ ...fact, attempt: { ...fact.attempt, method: { type } } }] });
    return id;
  };
  const refund = (paymentId: string, amount: bigint | undefined) =>
    refundPayment(played.deps, { ...owner, paymentId, amount, reason: "", idempotency: undefined });
  played.methods = [
    { ...ideal, refund: "full" },
    { ...ideal, type: "boleto", refund: "none" },
  ];
  const [whole, never] = [await paidBy("ideal"), await paidBy("boleto")];
  await assert.rejects(refund(whole, 400n), isRefusal("INVALID_BODY"));
  await assert.rejects(refund(never, undefined), isRefusal("NOT_REFUNDABLE"));
  assert.equal(played.calls.length, 0);
  assert.deepEqual(await played.db.rows("select id from refunds where payment_id = any($1)", [[whole, never]]), []);
  assert.equal((await refund(whole, undefined)).refund?.status, "pending");
  assert.ok(played.calls.includes("createRefund"));
});

test.run();
