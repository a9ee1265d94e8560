// Expiring sessions: the processor is always asked first, and no money is lost.
import assert from "node:assert/strict";
import { openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { startCheckoutServices } from "./services.ts";

const test = suite("expiring sessions", { timeoutMs: 30_000 });

const services = fixture(test, () => startCheckoutServices());
const payments = fixture(test, () => openDatabase(services.money.paymentsDatabaseUrl));
test.afterEach(() => services.money.processor("DELETE", "/test/faults"));

const statusOf = async (id: string) => (await services.get(id)).status;
const resolve = (session: { id: string; secret: string }) =>
  services.checkout.resolveSession({ sessionId: session.id, sessionSecret: session.secret });

function expire(sessionId: string) {
  const { merchantId, environment } = services.money;
  return services.checkout.expireSession({ merchantId, environment, sessionId });
}

test("confirm expires an overdue unpaid session and cancels its intent", async () => {
  const session = await services.create();
  await services.makeOverdue(session.id, false);
  await assert.rejects(session.confirm(), isRefusal("SESSION_EXPIRED"));
  assert.equal(await statusOf(session.id), "expired");
  await services.announced.event("session.expired", session.id);
  assert.equal(await session.pay(), "canceled");
});

test("an overdue paid session is completed by confirm, resolve and the sweeper", async () => {
  const [confirmed, resolved, swept] = [await services.create(), await services.create(), await services.create()];
  for (const session of [confirmed, resolved, swept]) await session.pay();
  await services.makeOverdue(confirmed.id, false);
  await services.makeOverdue(resolved.id, false);
  await services.makeOverdue(swept.id);
  assert.equal((await confirmed.confirm()).status, "completed");
  assert.equal((await resolve(resolved)).session?.status, "completed");
  await eventually("the sweeper to complete it", async () => (await statusOf(swept.id)) === "completed", {
    limitMs: 20_000,
  });
});

test("resolve and the sweeper expire an overdue unpaid session", async () => {
  const [resolved, swept] = [await services.create(), await services.create()];
  await services.makeOverdue(resolved.id, false);
  await services.makeOverdue(swept.id);
  const { session, render } = await resolve(resolved);
  assert.deepEqual([session?.status, render], ["expired", undefined]);
  await eventually("the sweeper to expire it", async () => (await statusOf(swept.id)) === "expired", {
    limitMs: 20_000,
  });
});

test("a session with a lost intent expires after an hour at its merchant's request, otherwise only after proof", async () => {
  const [requested, overdue] = [await services.create(), await services.create()];
  await services.makeOverdue(overdue.id, false);
  for (const { id, paymentId } of [requested, overdue]) {
    const [row] = await payments.rows<{ ref: string }>("select connector_ref as ref from payments where id = $1", [
      paymentId,
    ]);
    await services.money.processor("POST", `/test/intents/${row?.ref}/lose`);
    await assert.rejects(expire(id), isRefusal("CONNECTOR_ERROR"));
    await payments.rows("update payments set not_found_since = not_found_since - interval '1 hour' where id = $1", [
      paymentId,
    ]);
  }
  await services.db.rows("update sessions set expiry_asked = false where id = $1", [overdue.id]);
  await assert.rejects(overdue.confirm(), isRefusal("CONNECTOR_ERROR"));
  assert.equal(await statusOf(overdue.id), "open");
  assert.equal((await expire(requested.id)).session?.status, "expired");
});

/** A session whose expiry was requested and is not possible yet. */
async function createExpiring(status: "open" | "processing") {
  const session = await services.create();
  const paymentStatus = status === "processing" ? status : "";
  await services.db.rows("update sessions set status = $2, payment_status = $3, expiry_asked = true where id = $1", [
    session.id,
    status,
    paymentStatus,
  ]);
  return session;
}

test("a requested expiry is completed by confirm and resolve, and the session cannot be paid", async () => {
  const [confirmed, resolved, unreachable] = [
    await createExpiring("open"),
    await createExpiring("open"),
    await createExpiring("open"),
  ];
  await assert.rejects(confirmed.confirm(), isRefusal("SESSION_EXPIRED"));
  const { session, render } = await resolve(resolved);
  assert.deepEqual([session?.status, render], ["expired", undefined]);
  for (const one of [confirmed, resolved]) assert.equal(await one.pay(), "canceled");
  await services.money.processor("PUT", "/test/faults", { target: "api.*", kind: "error_before" });
  await assert.rejects(resolve(unreachable), isRefusal("CONNECTOR_ERROR"));
});

test("a failed expiry request is repeated after a minute", async () => {
  const session = await services.create();
  await services.money.processor("PUT", "/test/faults", { target: "api.*", kind: "error_before" });
  await assert.rejects(expire(session.id), isRefusal("CONNECTOR_ERROR"));
  await services.money.processor("DELETE", "/test/faults");
  // The minute reserved for the request itself is over.
  await services.db.rows(
    `update sessions set next_check_at = next_check_at - interval '1 minute'
     where id = $1 and next_check_at < now() + interval '61 seconds'`,
    [session.id],
  );
  await eventually("the sweeper to end it", async () => (await statusOf(session.id)) === "expired", {
    limitMs: 20_000,
  });
});

test("a session with a payment in progress is checked without events or requests", async () => {
  const session = await services.create();
  await session.pay();
  await services.db.rows(
    "update sessions set status = 'processing', payment_status = 'processing', next_check_at = now() where id = $1",
    [session.id],
  );
  const status = async () => {
    const [row] = await services.db.rows<{ status: string }>("select status from sessions where id = $1", [session.id]);
    return row?.status;
  };
  await eventually("the sweeper to check it", async () => (await status()) === "completed", { limitMs: 20_000 });
});

test("a canceled intent cancels its session", async () => {
  const session = await services.create();
  await services.money.payments.cancelIntent({ paymentId: session.paymentId });
  assert.equal((await services.announced.event("session.canceled", session.id)).status, "canceled");
});

test("concurrent payment, confirms and expiry end the session as the money did", async () => {
  for (let round = 0; round < 5; round++) {
    const session = await services.create();
    const paying = session.pay().catch(() => {});
    await Promise.allSettled([paying, expire(session.id), session.confirm(), session.confirm()]);
    const { payment } = await services.money.payments.verifyIntent({ paymentId: session.paymentId });
    const expected = payment?.status === "succeeded" ? "completed" : "expired";
    await eventually(`the session to be ${expected}`, async () => (await statusOf(session.id)) === expected);
  }
});

test.run();
