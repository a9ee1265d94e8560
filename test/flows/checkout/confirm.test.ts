// Confirming sessions: the answers to the buyer's browser, with the real payments service and processor.
import assert from "node:assert/strict";
import { connectPeer } from "#platform/rpc/client.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { freePort } from "../../../deploy/local/free-port.ts";
import { startCheckout } from "../../../services/checkout/service.ts";
import { openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { cards } from "../../harness/pay.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";
import { startCheckoutServices } from "./services.ts";

const test = suite("confirming sessions", { timeoutMs: 30_000 });

const services = fixture(test, () => startCheckoutServices());
test.afterEach(() => services.money.processor("DELETE", "/test/faults"));

const outage = (target = "api.*") => services.money.processor("PUT", "/test/faults", { target, kind: "error_before" });

test("a paid session completes, and a repeated confirm replays while the processor is unavailable", async () => {
  const session = await services.create();
  assert.deepEqual(await session.confirm().then(({ status, paymentStatus }) => [status, paymentStatus]), [
    "open",
    "pending",
  ]);
  await session.pay();
  const confirmed = await session.confirm();
  assert.deepEqual([confirmed.status, confirmed.paymentStatus], ["completed", "succeeded"]);
  assert.equal(confirmed.paymentId, session.paymentId);
  await outage();
  const again = await session.confirm();
  assert.deepEqual([again.status, again.paymentStatus], ["completed", "succeeded"]);
  const event = await services.announced.event("session.completed", session.id);
  assert.deepEqual(event.attributes, { payment_id: session.paymentId, payment_status: "succeeded" });
  const { session: read } = await services.checkout.getSession({ ...owner(), sessionId: session.id });
  assert(read?.completedAt && read.receiptUrl !== "");
});

test("concurrent confirms complete a session once", async () => {
  const session = await services.create();
  await session.pay();
  const answers = await Promise.all(Array.from({ length: 12 }, () => session.confirm()));
  assert(answers.every((answer) => answer.status === "completed" && answer.paymentStatus === "succeeded"));
  await services.announced.event("session.completed", session.id);
  const [row] = await services.db.rows<{ n: number }>(
    "select count(*)::int as n from outbox where subject like '%session.completed' and encode(body, 'escape') like $1",
    [`%${session.id}%`],
  );
  assert.equal(row?.n, 1);
});

test("ten declined attempts without a confirm cancel the session", async () => {
  const session = await services.create();
  for (let i = 1; i <= 10; i++) {
    await session.pay(cards.declined);
    await services.money.payments.verifyIntent({ paymentId: session.paymentId });
  }
  await eventually("the session to be canceled", async () => (await services.get(session.id)).status === "canceled");
});

test("an asynchronous payment is processing until the processor settles it, also without another confirm", async () => {
  const session = await services.create();
  await session.pay(cards.asynchronous);
  const early = await session.confirm();
  assert.deepEqual([early.status, early.paymentStatus], ["processing", "processing"]);
  const { render } = await services.checkout.resolveSession({ sessionId: session.id, sessionSecret: session.secret });
  assert.equal(render, undefined);
  await eventually("the processor to settle", async () => {
    const { payment } = await services.money.payments.verifyIntent({ paymentId: session.paymentId });
    return payment?.status === "succeeded";
  });
  await eventually("the session to complete", async () => (await services.get(session.id)).status === "completed");
  assert.equal((await session.confirm()).paymentStatus, "succeeded");
});

test("a session completes by the payment's event without the buyer, and later events update it", async () => {
  const session = await services.create();
  await session.pay();
  await services.money.payments.verifyIntent({ paymentId: session.paymentId });
  await eventually("the session to complete", async () => (await services.get(session.id)).status === "completed");
  await services.money.payments.refundPayment({ ...owner(), paymentId: session.paymentId });
  await eventually("the session to show the refund", async () => {
    const { status, paymentStatus } = await services.get(session.id);
    return status === "completed" && paymentStatus === "refunded";
  });
});

test("a refund shows in session and confirm although payments' clock was behind", async () => {
  const session = await services.create();
  await session.pay();
  assert.equal((await session.confirm()).paymentStatus, "succeeded");
  // As if the session's last event came from a clock two minutes ahead.
  await services.db.rows("update sessions set heard_at = now() + interval '2 minutes' where id = $1", [session.id]);
  await services.money.payments.refundPayment({ ...owner(), paymentId: session.paymentId });
  await eventually("the session to show the refund", async () => {
    return (await services.get(session.id)).paymentStatus === "refunded";
  });
  assert.equal((await session.confirm()).paymentStatus, "refunded");
});

test("a completed session's confirm returns the current payment status, also before its event", async () => {
  const session = await services.create();
  await session.pay();
  await session.confirm();
  await services.money.payments.refundPayment({ ...owner(), paymentId: session.paymentId, amount: 50n });
  await eventually("the payment to be refunded in part", async () => {
    const { payment } = await services.money.payments.verifyIntent({ paymentId: session.paymentId });
    return payment?.status === "partially_refunded";
  });
  assert.equal((await session.confirm()).paymentStatus, "partially_refunded");
});

test("an intent that cannot be verified changes nothing, and the next confirm succeeds", async () => {
  const session = await services.create();
  await session.pay();
  await outage("api.intents.get");
  await assert.rejects(session.confirm(), refused("CONNECTOR_ERROR"));
  assert.equal((await services.get(session.id)).status, "open");
  await services.money.processor("DELETE", "/test/faults");
  assert.equal((await session.confirm()).status, "completed");
});

test("a confirm after the processor's report has its own announcement", async () => {
  const session = await services.create();
  await session.pay();
  const payments = await openDatabase(services.money.paymentsDatabaseUrl);
  try {
    // Polls the processor's list now. Reading the session by RPC would ask payments itself.
    await eventually("the session to complete", async () => {
      await payments.rows("update event_cursors set due_at = now() where due_at > now()");
      const rows = await services.db.rows("select 1 from sessions where id = $1 and status = 'completed'", [
        session.id,
      ]);
      return rows.length === 1;
    });
    const isAnnounced = async () => {
      const rows = await payments.rows<{ is: boolean }>(
        "select announced_by_confirm as is from payments where id = $1",
        [session.paymentId],
      );
      return rows[0]?.is;
    };
    assert.equal(await isAnnounced(), false);
    assert.equal((await session.confirm()).paymentStatus, "succeeded");
    assert.equal(await isAnnounced(), true);
  } finally {
    await payments.close();
  }
});

test("while payments is unavailable a confirm is service_unavailable, and an ended session is still shown", async () => {
  const [session, ended] = [await services.create(), await services.create()];
  await session.pay();
  await services.checkout.expireSession({ ...owner(), sessionId: ended.id });
  await services.makeOverdue(ended.id, false);
  const lonely = await startCheckout({
    ...services.money.settings,
    DATABASE_URL: services.databaseUrl,
    PAYMENTS_URL: `http://127.0.0.1:${await freePort()}`,
    MERCHANT_URL: undefined,
    CHECKOUT_ORIGIN: undefined,
    IDEMPOTENCY_LEASE_SECONDS: 90,
  });
  const peer = connectPeer({ url: `http://127.0.0.1:${lonely.port}`, token: services.money.settings.RPC_TOKEN });
  try {
    const checkout = peer.client(CheckoutService);
    const confirm = checkout.confirmSession(
      { sessionId: session.id, sessionSecret: session.secret },
      { timeoutMs: 3_000 },
    );
    await assert.rejects(confirm, refused("SERVICE_UNAVAILABLE"));
    const resolved = await checkout.resolveSession({ sessionId: ended.id, sessionSecret: ended.secret });
    assert.equal(resolved.session?.status, "expired");
  } finally {
    peer.close();
    await lonely.stop();
  }
  assert.equal((await session.confirm()).status, "completed");
});

function owner() {
  const { merchantId, environment } = services.money;
  return { merchantId, environment };
}

test("a read settles a session whose event was lost", async () => {
  const session = await services.create();
  await session.pay();
  await services.db.rows(
    `update sessions set status = 'processing', payment_status = 'processing', created_at = created_at - interval '1 hour'
     where id = $1`,
    [session.id],
  );
  // The first read may be answered before the check it starts has ended.
  await eventually("the session to complete", async () => (await services.get(session.id)).status === "completed");
});

test.run();
