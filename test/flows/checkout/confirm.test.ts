// Confirming sessions: the answers to the buyer's browser, with the real payments service and processor.
import assert from "node:assert/strict";
import { connectPeer } from "#platform/rpc/client.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { freePort } from "../../../deploy/local/free-port.ts";
import { startCheckout } from "../../../services/checkout/service.ts";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
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
  const paid = { payment_id: session.paymentId, payment_status: "succeeded", payment_link_id: "" };
  assert.deepEqual(event.attributes, paid);
  assert.deepEqual([event.money?.amount, event.money?.currency], [1_050n, "EUR"]);
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
    BACKUP_DAYS: 30,
    RETENTION_UNPAID_SESSION_DAYS: 400,
    IDEMPOTENCY_LEASE_SECONDS: 90,
  });
  const peer = connectPeer({ url: `http://127.0.0.1:${lonely.port}`, token: services.money.settings.RPC_TOKEN });
  try {
    const checkout = peer.client(CheckoutService);
    const confirm = checkout.confirmSession(
      { sessionId: session.id, sessionSecret: session.secret },
      { timeoutMs: 3_000 },
    );
    await assert.rejects(confirm, isRefusal("SERVICE_UNAVAILABLE"));
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
