// Confirming sessions: what the buyer's browser is told, against the real payments service and processor.
import assert from "node:assert/strict";
import { Database } from "#platform/database/database.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { freePort } from "../../../deploy/local/free-port.ts";
import { startCheckout } from "../../../services/checkout/service.ts";
import { eventually } from "../../harness/eventually.ts";
import { cards } from "../../harness/pay.ts";
import { suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";
import { type CheckoutServices, startCheckoutServices } from "./services.ts";

const test = suite("confirming sessions", { timeoutMs: 30_000 });
let services: CheckoutServices;

test.before(async () => {
  services = await startCheckoutServices();
});
test.after(() => services?.stop());
test.afterEach(() => services.money.processor("DELETE", "/test/faults"));

const outage = (target = "api.*") => services.money.processor("PUT", "/test/faults", { target, kind: "error_before" });

test("a paid session completes, and a repeated confirm replays its payment while the processor is away", async () => {
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

test("many confirms at once complete a session once", async () => {
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

test("a declined session stays open, and the next card can pay it", async () => {
  const session = await services.create();
  await session.pay(cards.declined);
  const declined = await session.confirm();
  assert.deepEqual([declined.status, declined.paymentStatus], ["open", "failed"]);
  await session.pay();
  assert.equal((await session.confirm()).status, "completed");
});

test("after the tenth declined attempt session and intent are canceled", async () => {
  const session = await services.create();
  for (let i = 1; i < 10; i++) assert.equal(await session.pay(cards.declined), "failed");
  assert.equal((await session.confirm()).status, "open");
  await session.pay(cards.declined);
  await assert.rejects(session.confirm(), refused("SESSION_EXPIRED"));
  assert.equal((await services.get(session.id)).status, "canceled");
  await services.announced.event("session.canceled", session.id);
  assert.equal(await session.pay(), "canceled");
  await assert.rejects(session.confirm(), refused("SESSION_EXPIRED"));
});

test("tries that end without any confirm cancel the session too", async () => {
  const session = await services.create();
  for (let i = 1; i <= 10; i++) {
    await session.pay(cards.declined);
    await services.money.payments.verifyIntent({ paymentId: session.paymentId });
  }
  await eventually("the session to be canceled", async () => (await services.get(session.id)).status === "canceled");
});

test("an asynchronous payment is processing until the processor settles it, also when nobody asks again", async () => {
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

test("a session whose buyer never came back completes by the payment's event, and later ones update its payment", async () => {
  const session = await services.create();
  await session.pay();
  await services.money.payments.verifyIntent({ paymentId: session.paymentId });
  await eventually("the session to complete", async () => (await services.get(session.id)).status === "completed");
  await services.money.payments.refundPayment({ ...owner(), paymentId: session.paymentId });
  await eventually("the refund to be heard of", async () => {
    const { status, paymentStatus } = await services.get(session.id);
    return status === "completed" && paymentStatus === "refunded";
  });
});

test("a refund is heard of and confirm answers it, though payments' clock was behind when it was made", async () => {
  const session = await services.create();
  await session.pay();
  assert.equal((await session.confirm()).paymentStatus, "succeeded");
  // What the session has heard of the capture is as if from a clock that was two minutes ahead of the refund's.
  await services.db.rows("update sessions set heard_at = now() + interval '2 minutes' where id = $1", [session.id]);
  await services.money.payments.refundPayment({ ...owner(), paymentId: session.paymentId });
  await eventually("the refund to be heard of", async () => {
    return (await services.get(session.id)).paymentStatus === "refunded";
  });
  assert.equal((await session.confirm()).paymentStatus, "refunded");
});

test("a completed session's confirm answers where its payment stands, also before the event has come", async () => {
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

test("an intent that cannot be verified changes nothing, and the next confirm goes on", async () => {
  const session = await services.create();
  await session.pay();
  await outage("api.intents.get");
  await assert.rejects(session.confirm(), refused("CONNECTOR_ERROR"));
  assert.equal((await services.get(session.id)).status, "open");
  await services.money.processor("DELETE", "/test/faults");
  assert.equal((await session.confirm()).status, "completed");
});

test("a confirm that comes after the processor's word has its own announcement", async () => {
  const session = await services.create();
  await session.pay();
  const payments = await Database.open({
    url: services.money.paymentsDatabaseUrl,
    name: "test",
    log: createLog("test", "fatal"),
  });
  try {
    // The processor's list is read at once; and the session is not read by a call, which would ask payments itself.
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

test("while payments is away a confirm says so, and not that the processor failed; what has ended is told all the same", async () => {
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

test("a wrong secret, another session's secret, an unknown id and no secret look the same", async () => {
  const [session, other] = [await services.create(), await services.create()];
  const attempts = [
    { sessionId: session.id, sessionSecret: other.secret },
    { sessionId: session.id, sessionSecret: `${session.secret.slice(0, -1)}-` },
    { sessionId: session.id, sessionSecret: "" },
    { sessionId: newId("session"), sessionSecret: session.secret },
    { sessionId: "cs_x", sessionSecret: session.secret },
    { sessionId: "", sessionSecret: "" },
  ];
  for (const attempt of attempts) {
    await assert.rejects(services.checkout.confirmSession(attempt), refused("NOT_FOUND"));
    await assert.rejects(services.checkout.resolveSession(attempt), refused("NOT_FOUND"));
  }
});

function owner() {
  const { merchantId, environment } = services.money;
  return { merchantId, environment };
}

test("a session that a lost event left processing is settled when somebody reads it", async () => {
  const session = await services.create();
  await session.pay();
  await services.db.rows(
    `update sessions set status = 'processing', payment_status = 'processing', created_at = created_at - interval '1 hour'
     where id = $1`,
    [session.id],
  );
  // The first read may be answered before the processor is; the run goes on behind it.
  await eventually("the session to complete", async () => (await services.get(session.id)).status === "completed");
});

test.run();
