// docs/contract.md §5, capture later: POST /v1/payments/{id}/capture and POST /v1/payments/{id}/cancel.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { answerChallenge, cards, cardToken, payInFrame } from "../harness/pay.ts";
import { asBuyer, contractSuite, withoutFee } from "./caller.ts";
import { accountOf, failProcessor } from "./operator.ts";

const { test, running, merchant, api } = contractSuite("captures", { timeoutMs: 30_000 });

const order = { amount: 1000, currency: "EUR", capture_method: "manual" };

async function authorized({ as = merchant.apiKey, card = cards.succeeds as string, body = order as object } = {}) {
  const session = await api.call("createCheckoutSession", 201, { as, body });
  await payInFrame(session.text("render.frame_url"), card);
  const confirmed = await api.call("confirmCheckout", 200, asBuyer(session));
  return { session, id: confirmed.text("payment_id") };
}

const end = (operation: "capturePayment" | "cancelPayment", id: string, body?: object, headers = {}) =>
  api.call(operation, 200, { path: { id }, ...(body && { body }), headers });

// Proves capturePayment: all, part, response
test("docs/contract.md §5: no amount and an empty body capture all, an amount a part; the answer is the full payment", async () => {
  for (const [body, capturedAmount] of [
    [undefined, 1000],
    [{}, 1000],
    [{ amount: 400 }, 400],
    [{ amount: 1000 }, 1000],
  ] as const) {
    const { id } = await authorized();
    const held = await api.call("getPayment", 200, { path: { id } });
    assert.deepEqual([held.text("status"), held.text("capture_method")], ["succeeded", "manual"]);
    assert.deepEqual(
      [held.at("captured_at"), held.at("captured_amount"), held.number("fee_amount")],
      [undefined, 0, 0],
    );
    assert.ok(held.text("capture_before") > held.text("authorized_at"));
    const captured = await end("capturePayment", id, body);
    assert.deepEqual([captured.number("captured_amount"), captured.at("capture_before")], [capturedAmount, undefined]);
    assert.ok(captured.text("captured_at"));
    assert.equal(captured.number("net_amount"), capturedAmount - captured.number("fee_amount"));
    assert.deepEqual(withoutFee(await api.call("getPayment", 200, { path: { id } })), withoutFee(captured));
  }
});

test("docs/contract.md §5: an authorization, a captured part and a whole payment differ in lists of payments and in sessions", async () => {
  const shop = await freshMerchant(running);
  const body = { ...order, amount: 5000 };
  const made = [];
  for (const capturedAmount of [0, 100, 5000]) {
    const { session, id } = await authorized({ as: shop.apiKey, body });
    if (capturedAmount > 0)
      await api.call("capturePayment", 200, { as: shop.apiKey, path: { id }, body: { amount: capturedAmount } });
    made.push({ id, capturedAmount, sessionId: session.text("id") });
  }
  const { body: found } = await api.call("listPayments", 200, { as: shop.apiKey });
  const listed = new Map((membersOf(found).data as object[]).map(membersOf).map((item) => [item.id, item]));
  for (const { id, capturedAmount, sessionId } of made) {
    const { status, amount, captured_amount: captured } = listed.get(id) ?? {};
    assert.deepEqual([status, amount, captured], ["succeeded", 5000, capturedAmount]);
    await eventually(`the session to have ${capturedAmount} captured`, async () => {
      const session = await api.call("getCheckoutSession", 200, { as: shop.apiKey, path: { id: sessionId } });
      return session.at("payment_status") === "succeeded" && session.at("captured_amount") === capturedAmount;
    });
  }
});

// Proves capturePayment: errors; errors: not_capturable
test("docs/contract.md §2: what is captured, canceled, unpaid or captured at once is not_capturable", async () => {
  const [{ id: captured }, { id: canceled }] = [await authorized(), await authorized()];
  await end("capturePayment", captured, { amount: 1 });
  await end("cancelPayment", canceled);
  const { id: atOnce } = await authorized({ body: { amount: 1000, currency: "EUR" } });
  const { id: declined } = await authorized({ card: cards.declined });
  for (const id of [captured, canceled, atOnce, declined]) {
    await api.refused("capturePayment", 422, "not_capturable", { path: { id } });
  }
});

// Proves capturePayment: errors
test("docs/contract.md §2: more than is authorized is amount_too_large, and captures nothing", async () => {
  const { id } = await authorized();
  for (const amount of [1001, Number.MAX_SAFE_INTEGER]) {
    const options = { path: { id }, body: { amount }, headers: { "idempotency-key": `more-${amount}-${id}` } };
    const first = await api.refused("capturePayment", 422, "amount_too_large", options);
    const stored = await api.refused("capturePayment", 422, "amount_too_large", options);
    for (const answer of [first, stored]) {
      assert.equal(answer.text("error.message"), "amount exceeds the authorized amount");
    }
    assert.equal(stored.headers.get("idempotent-replayed"), "true");
  }
  assert.equal((await end("capturePayment", id)).number("captured_amount"), 1000);
});

// Proves cancelPayment: authorized, again, response
test("docs/contract.md §5: an authorization is released and costs nothing; a canceled payment is answered as it is", async () => {
  const { session, id } = await authorized();
  const canceled = await end("cancelPayment", id);
  assert.deepEqual(
    [canceled.text("status"), canceled.number("fee_amount"), canceled.number("net_amount")],
    ["canceled", 0, 0],
  );
  assert.deepEqual((await end("cancelPayment", id, {})).body, canceled.body);
  await eventually("its session to follow", async () => {
    const seen = await api.call("getCheckoutSession", 200, { path: { id: session.text("id") } });
    return seen.at("payment_status") === "canceled";
  });
  const seen = await api.call("getCheckoutSession", 200, { path: { id: session.text("id") } });
  assert.deepEqual(
    [seen.text("status"), seen.text("payment_id"), seen.text("capture_method")],
    ["completed", id, "manual"],
  );
});

// Proves cancelPayment: unpaid
test("docs/contract.md §5: an unpaid payment is canceled with its session", async () => {
  const { session, id } = await authorized({ card: cards.declined });
  assert.equal((await end("cancelPayment", id)).text("status"), "canceled");
  await eventually("its session to end", async () => {
    const seen = await api.call("getCheckoutSession", 200, { path: { id: session.text("id") } });
    return seen.at("status") === "canceled";
  });
});

test("docs/contract.md §9: a challenge that is passed during a cancellation completes its session exactly when the processor authorized", async () => {
  for (const captureMethod of ["manual", "manual", "manual", "automatic"]) {
    const session = await api.call("createCheckoutSession", 201, { body: { ...order, capture_method: captureMethod } });
    const challenge = await payInFrame(session.text("render.frame_url"), cards.needsChallenge);
    const id = (await api.call("confirmCheckout", 200, asBuyer(session))).text("payment_id");
    const [passed] = await Promise.all([
      answerChallenge(challenge.text("challenge_url"), "pass"),
      merchant.api.post(`/v1/payments/${id}/cancel`, {}),
    ]);
    const isAuthorized = passed.at("status") === "succeeded";
    const isKept = isAuthorized && captureMethod === "automatic";
    const expectedTypes = [
      ...(isAuthorized
        ? ["checkout_session.completed", "payment.succeeded"]
        : ["checkout_session.canceled", "payment.failed"]),
      ...(isAuthorized && !isKept ? ["authorization.canceled"] : []),
    ].sort();
    await eventually(`deliveries of ${expectedTypes.join(", ")} only`, async () => {
      const events = (await api.call("listEvents", 200, { query: { payment_id: id } })).list("data");
      const types = new Set(events.map((one) => String(membersOf(one).type)));
      return [...types].sort().join(", ") === expectedTypes.join(", ");
    });
    const payment = await api.call("getPayment", 200, { path: { id } });
    assert.equal(payment.text("status"), isKept ? "succeeded" : "canceled");
    assert.equal(payment.at("authorized_at") !== undefined, isAuthorized);
  }
});

// Proves cancelPayment: errors; errors: not_cancelable
test("docs/contract.md §2: what is captured, refunded or failed for good is not_cancelable", async () => {
  const { id: captured } = await authorized();
  await end("capturePayment", captured);
  const { id: refunded } = await authorized();
  await end("capturePayment", refunded, { amount: 10 });
  await api.call("createRefund", 201, { path: { id: refunded } });
  const token = await cardToken(running.processor, await accountOf(merchant), cards.declined);
  const failed = (await api.call("createPayment", 201, { body: { ...order, payment_method: token } })).text("id");
  for (const id of [captured, refunded, failed]) {
    await api.refused("cancelPayment", 422, "not_cancelable", { path: { id } });
  }
});

// Proves createPayment: capture_method
test("docs/contract.md §5: a payment by token is authorized alone when that is asked for", async () => {
  const token = await cardToken(running.processor, await accountOf(merchant));
  const made = await api.call("createPayment", 201, { body: { ...order, payment_method: token } });
  assert.deepEqual([made.text("status"), made.at("captured_at")], ["succeeded", undefined]);
  assert.equal((await end("capturePayment", made.text("id"), { amount: 7 })).number("captured_amount"), 7);
});

// Proves capturePayment: replay, reuse; cancelPayment: replay, reuse
test("docs/contract.md §6: a key replays its response, also an error, and belongs to one request", async () => {
  const [{ id: captured }, { id: canceled }] = [await authorized(), await authorized()];
  for (const [operation, id, body, other] of [
    ["capturePayment", captured, { amount: 400 }, { amount: 401 }],
    ["cancelPayment", canceled, {}, undefined],
  ] as const) {
    const headers = { "Idempotency-Key": `once ${operation}` };
    const first = await end(operation, id, body, headers);
    const again = await end(operation, id, body, headers);
    assert.deepEqual([again.headers.get("idempotent-replayed"), again.raw], ["true", first.raw]);
    const elsewhere = other ? { path: { id }, body: other } : { path: { id: captured } };
    await api.refused(operation, 422, "idempotency_key_reuse", { ...elsewhere, headers });
  }
  const headers = { "Idempotency-Key": "refused" };
  await api.refused("capturePayment", 422, "not_capturable", { path: { id: captured }, headers });
  const replay = await api.refused("capturePayment", 422, "not_capturable", { path: { id: captured }, headers });
  assert.equal(replay.headers.get("idempotent-replayed"), "true");
});

// Proves capturePayment: pending; cancelPayment: pending
test("docs/contract.md §2: without the processor's answer the response is the payment as it is, and a webhook has the end", async () => {
  const doubtful = await freshMerchant(running);
  for (const [operation, what, status] of [
    ["capturePayment", "capture", "succeeded"],
    ["cancelPayment", "cancel", "canceled"],
  ] as const) {
    const { id } = await authorized({ as: doubtful.apiKey });
    await failProcessor(running, doubtful, { target: `api.intents.${what}`, kind: "error_after", count: 1 });
    await failProcessor(running, doubtful, { target: "api.intents.get", kind: "error_before", count: 1 });
    const answer = await api.call(operation, 200, { as: doubtful.apiKey, path: { id } });
    assert.ok(["succeeded", "canceled"].includes(answer.text("status")));
    await eventually("the processor's event to end it", async () => {
      const payment = await api.call("getPayment", 200, { as: doubtful.apiKey, path: { id } });
      return payment.at("status") === status && (status === "canceled" || payment.at("captured_amount") === 1000);
    });
  }
});

// Proves capturePayment: errors; cancelPayment: errors
test("docs/contract.md §2: bad amounts and unknown fields are invalid_body; foreign and unknown payments not_found", async () => {
  const { id } = await authorized();
  for (const body of [{ amount: 0 }, { amount: -1 }, { amount: "1" }, { amount: 1.5 }, { amout: 1 }]) {
    await api.refused("capturePayment", 400, "invalid_body", { path: { id }, body });
  }
  await api.refused("cancelPayment", 400, "invalid_body", { path: { id }, body: { reason: "late" } });
  await api.refused("createCheckoutSession", 400, "invalid_body", { body: { ...order, capture_method: "later" } });
  const stranger = await freshMerchant(running);
  for (const sent of [{ as: stranger.apiKey, path: { id } }, { path: { id: "pay_01jd3v9q6k8m2n4p6r8t0v2x4z" } }]) {
    await api.refused("capturePayment", 404, "not_found", sent);
    await api.refused("cancelPayment", 404, "not_found", sent);
  }
  assert.equal((await api.call("getPayment", 200, { path: { id } })).at("captured_at"), undefined);
});

// Proves createCheckoutSession: capture_method
test("docs/contract.md §4: a session shows its capture mode to its merchant and the browser; automatic by default", async () => {
  for (const [body, method] of [
    [order, "manual"],
    [{ ...order, capture_method: "automatic" }, "automatic"],
    [{ amount: 1000, currency: "EUR" }, "automatic"],
  ] as const) {
    const session = await api.call("createCheckoutSession", 201, { body });
    const read = await api.call("getCheckoutSession", 200, { path: { id: session.text("id") } });
    const seen = await api.call("resolveCheckout", 200, asBuyer(session));
    assert.deepEqual(
      [session, read, seen].map((one) => one.text("capture_method")),
      [method, method, method],
    );
  }
});

// Proves capturePayment: errors; cancelPayment: errors
test("every described code of these operations was seen", () =>
  // connector_error needs a processor that surely did nothing: outage.test.ts stops it.
  api.sawEverything(
    ["capturePayment connector_error", "cancelPayment connector_error"],
    "capturePayment",
    "cancelPayment",
  ));

test.run();
