// docs/contract.md §5, Privacy: erasing a buyer leaves their data in no table, event or log, changes no money, and is
// refused while a dispute is open; an export has the buyer's sessions and payments.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { disputedPurchase } from "../console/purchases.ts";
import { eventually } from "../harness/eventually.ts";
import { findText } from "../harness/files/find-text.ts";
import { payInFrame } from "../harness/pay.ts";
import { startReceiver } from "../harness/receiver.ts";
import { fixture } from "../harness/suite.ts";
import { asBuyer, contractSuite } from "./caller.ts";

const { test, running, merchant, api } = contractSuite("privacy", { timeoutMs: 90_000 });
const receiver = fixture(test, () => startReceiver(running.tls));

/** Different in every run, so that nothing else has it. */
const person = newId("note").slice("note_".length);
const email = `Ada.${person}@Example.com`;
const order = {
  amount: 1_200,
  currency: "EUR",
  customer_email: email,
  description: `Tree for ${person}`,
  metadata: { name: person },
  line_items: [{ name: `Engraving ${person}`, quantity: 1, amount: 1_200 }],
};

async function buy(change: object = {}): Promise<{ session: string; payment: string }> {
  const session = await api.call("createCheckoutSession", 201, { body: { ...order, ...change } });
  (await payInFrame(session.text("render.frame_url"))).expect(200);
  const confirmed = await api.call("confirmCheckout", 200, asBuyer(session));
  return { session: session.text("id"), payment: confirmed.text("payment_id") };
}

const findPerson = () => findText(running, person);

// Proves createErasure: response; createErasure: replay; createErasure: reuse; getErasure: response; exportBuyer: response
test("docs/contract.md §5: an erased buyer is in no table, event or log, and the money is as before", async () => {
  const hook = {
    url: `${receiver.url}/all`,
    payload: "object",
    event_types: ["payment.succeeded", "checkout_session.completed", "checkout_session.expired"],
  };
  await api.call("createWebhookEndpoint", 201, { body: hook });
  const paid = await buy();
  const again = await buy({ customer_email: email.toLowerCase() });
  const left = (await api.call("createCheckoutSession", 201, { body: order })).text("id");
  await api.call("expireCheckoutSession", 200, { path: { id: left } });
  const refund = { amount: 200, reason: `asked by ${person}` };
  await api.call("createRefund", 201, { path: { id: paid.payment }, body: refund });
  await eventually("deliveries", () => receiver.received.filter(({ body }) => body.includes(left)).length > 0);
  const copy = await api.call("exportBuyer", 200, { body: { customer_email: email.toUpperCase() } });
  const ids = (list: unknown) => (list as { id: string }[]).map(({ id }) => id).sort();
  assert.deepEqual(ids(copy.at("sessions")), [paid.session, again.session, left].sort());
  assert.deepEqual(ids(copy.at("payments")), [paid.payment, again.payment].sort());
  assert.ok((await findPerson()).length > 5);
  const before = await api.call("getPayment", 200, { path: { id: paid.payment } });

  const key = { "Idempotency-Key": newId("request") };
  const erased = await api.call("createErasure", 201, { body: { customer_email: email }, headers: key });
  assert.deepEqual(
    ["status", "payments", "sessions", "payment_links"].map((name) => erased.at(name)),
    ["finished", 3, 3, 0],
  );
  const read = await api.call("getErasure", 200, { path: { id: erased.text("id") } });
  assert.deepEqual(read.body, erased.body);
  await eventually("no trace", async () => (await findPerson()).length === 0, { limitMs: 20_000 });

  const after = await api.call("getPayment", 200, { path: { id: paid.payment } });
  const money = ({ body }: { body: unknown }) => {
    const { refunds, ...payment } = membersOf(body);
    const personal = ["customer_email", "description", "metadata", "receipt_url", "card", "attempts"];
    const kept = Object.entries(payment).filter(
      ([name]) => !["updated_at", "processor_fee", "margin", ...personal].includes(name),
    );
    return {
      ...Object.fromEntries(kept),
      refunds: (refunds as object[]).map((each) => ({ ...each, reason: undefined })),
    };
  };
  assert.deepEqual(money(after), money(before));
  assert.equal(after.at("description"), "[erased]");
  const repeated = await api.call("createErasure", 201, { body: { customer_email: email }, headers: key });
  assert.deepEqual(repeated.body, erased.body);
  const reused = { body: { customer_email: "bob@example.com" }, headers: key };
  await api.refused("createErasure", 422, "idempotency_key_reuse", reused);
  const second = await api.call("createErasure", 201, { body: { customer_email: email } });
  assert.deepEqual([second.at("status"), second.at("payments")], ["finished", 0]);
  const none = await api.call("exportBuyer", 200, { body: { customer_email: email } });
  assert.deepEqual([none.at("sessions"), none.at("payments")], [[], []]);
});

// Proves createErasure: blocked; createErasure: body; createErasure: errors; getErasure: errors; exportBuyer: errors
test("an open dispute keeps the data; another payment is erased by its id, and only for its merchant", async () => {
  const { payment } = await disputedPurchase(running, merchant);
  await api.refused("createErasure", 422, "erasure_blocked", { body: { payment_id: payment } });
  const other = await buy({ customer_email: undefined });
  const erased = await api.call("createErasure", 201, { body: { payment_id: other.payment } });
  assert.deepEqual([erased.at("payments"), erased.at("sessions")], [1, 1]);
  const session = await api.call("getCheckoutSession", 200, { path: { id: other.session } });
  assert.deepEqual([session.at("description"), session.at("metadata")], ["[erased]", undefined]);
  const unknown = newId("payment");
  await api.refused("createErasure", 404, "not_found", { body: { payment_id: unknown } });
  await api.refused("exportBuyer", 404, "not_found", { body: { payment_id: unknown } });
  await api.refused("getErasure", 404, "not_found", { path: { id: newId("erasure") } });
  for (const body of [{}, { customer_email: "ada@example.com", payment_id: other.payment }])
    await api.refused("createErasure", 400, "invalid_body", { body });
  await api.refused("exportBuyer", 400, "invalid_body", { body: {} });
  await api.sawEverything([], "createErasure", "getErasure", "exportBuyer");
});

test.run();
