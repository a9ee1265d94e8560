// Expiring sessions: however it comes about, the processor is asked first and no money is lost.
import assert from "node:assert/strict";
import { Database } from "#platform/database/database.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { eventually } from "../../harness/eventually.ts";
import { cards } from "../../harness/pay.ts";
import { suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";
import { type CheckoutServices, startCheckoutServices } from "./services.ts";

const test = suite("expiring sessions", { timeoutMs: 30_000 });
let services: CheckoutServices;
let payments: Database;

test.before(async () => {
  services = await startCheckoutServices();
  const url = services.money.paymentsDatabaseUrl;
  payments = await Database.open({ url, name: "test", log: createLog("test", "error") });
});
test.after(async () => {
  await payments?.close();
  await services?.stop();
});
test.afterEach(() => services.money.processor("DELETE", "/test/faults"));

const statusOf = async (id: string) => (await services.get(id)).status;
const resolve = (session: { id: string; secret: string }) =>
  services.checkout.resolveSession({ sessionId: session.id, sessionSecret: session.secret });

function expire(sessionId: string) {
  const { merchantId, environment } = services.money;
  return services.checkout.expireSession({ merchantId, environment, sessionId });
}

test("an overdue session that nobody paid is expired by confirm, its intent canceled", async () => {
  const session = await services.create();
  await services.makeOverdue(session.id, false);
  await assert.rejects(session.confirm(), refused("SESSION_EXPIRED"));
  assert.equal(await statusOf(session.id), "expired");
  await services.announced.event("session.expired", session.id);
  assert.equal(await session.pay(), "canceled");
});

test("an overdue session that was paid is completed by whoever meets it", async () => {
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

test("an overdue session that nobody paid is expired by resolve and by the sweeper, and shows no form", async () => {
  const [resolved, swept] = [await services.create(), await services.create()];
  await services.makeOverdue(resolved.id, false);
  await services.makeOverdue(swept.id);
  const { session, render } = await resolve(resolved);
  assert.deepEqual([session?.status, render], ["expired", undefined]);
  await eventually("the sweeper to expire it", async () => (await statusOf(swept.id)) === "expired", {
    limitMs: 20_000,
  });
});

test("an overdue session that is still processing waits", async () => {
  const session = await services.create();
  await session.pay(cards.asynchronous);
  await services.makeOverdue(session.id, false);
  assert.equal((await session.confirm()).status, "processing");
});

test("an overdue session stays as it is while the processor is away, and expires when it is back", async () => {
  const session = await services.create();
  await services.makeOverdue(session.id, false);
  await services.money.processor("PUT", "/test/faults", { target: "api.*", kind: "error_before" });
  await assert.rejects(session.confirm(), refused("CONNECTOR_ERROR"));
  await assert.rejects(resolve(session), refused("CONNECTOR_ERROR"));
  assert.equal(await statusOf(session.id), "open");
  await services.money.processor("DELETE", "/test/faults");
  await assert.rejects(session.confirm(), refused("SESSION_EXPIRED"));
});

test("a merchant expires an open session once, a paid one completes instead, and strangers find nothing", async () => {
  const session = await services.create();
  assert.equal((await expire(session.id)).session?.status, "expired");
  assert.equal((await expire(session.id)).session?.status, "expired");
  await services.announced.event("session.expired", session.id);
  assert.equal(services.announced.count("session.expired", session.id), 1);
  await assert.rejects(session.confirm(), refused("SESSION_EXPIRED"));
  const paid = await services.create();
  await paid.pay();
  assert.equal((await expire(paid.id)).session?.status, "completed");
  await assert.rejects(expire(newId("session")), refused("NOT_FOUND"));
  const { environment } = services.money;
  const stranger = services.checkout.expireSession({ merchantId: newId("merchant"), environment, sessionId: paid.id });
  await assert.rejects(stranger, refused("NOT_FOUND"));
});

test("a session whose intent the processor lost an hour ago ends when its merchant asks, and by its time only when absence is proved", async () => {
  const [requested, overdue] = [await services.create(), await services.create()];
  await services.makeOverdue(overdue.id, false);
  for (const { id, paymentId } of [requested, overdue]) {
    const [row] = await payments.rows<{ ref: string }>("select connector_ref as ref from payments where id = $1", [
      paymentId,
    ]);
    await services.money.processor("POST", `/test/intents/${row?.ref}/lose`);
    await assert.rejects(expire(id), refused("CONNECTOR_ERROR"));
    await payments.rows("update payments set not_found_since = not_found_since - interval '1 hour' where id = $1", [
      paymentId,
    ]);
  }
  await services.db.rows("update sessions set expiry_asked = false where id = $1", [overdue.id]);
  await assert.rejects(overdue.confirm(), refused("CONNECTOR_ERROR"));
  assert.equal(await statusOf(overdue.id), "open");
  assert.equal((await expire(requested.id)).session?.status, "expired");
});

test("an expiry whose answer was lost is still an expiry when the cancellation is heard of", async () => {
  const session = await services.create();
  await services.money.processor("PUT", "/test/faults", { target: "api.*", kind: "error_before" });
  await assert.rejects(expire(session.id), refused("CONNECTOR_ERROR"));
  assert.equal(await statusOf(session.id), "open");
  await services.money.processor("DELETE", "/test/faults");
  await services.money.payments.cancelIntent({ paymentId: session.paymentId });
  assert.equal((await services.announced.event("session.expired", session.id)).status, "expired");
});

/** As a merchant's expiry leaves a session whose payment is on its way: asked for, and not yet possible. */
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

test("an expiry asked for while a payment is under way is carried out once that is declined, by itself", async () => {
  const session = await createExpiring("processing");
  await session.pay(cards.declined);
  await services.money.payments.verifyIntent({ paymentId: session.paymentId });
  await eventually("the sweeper to end it", async () => (await statusOf(session.id)) === "expired", {
    limitMs: 20_000,
  });
  assert.equal(await session.pay(), "canceled");
});

test("what its merchant ended is ended by whoever meets it, and nobody can pay it any more", async () => {
  const [confirmed, resolved, away] = [
    await createExpiring("open"),
    await createExpiring("open"),
    await createExpiring("open"),
  ];
  await assert.rejects(confirmed.confirm(), refused("SESSION_EXPIRED"));
  const { session, render } = await resolve(resolved);
  assert.deepEqual([session?.status, render], ["expired", undefined]);
  for (const one of [confirmed, resolved]) assert.equal(await one.pay(), "canceled");
  await services.money.processor("PUT", "/test/faults", { target: "api.*", kind: "error_before" });
  await assert.rejects(resolve(away), refused("CONNECTOR_ERROR"));
});

test("an expiry that could not be carried out when it was asked for is carried out a minute later, not at the session's end", async () => {
  const session = await services.create();
  await services.money.processor("PUT", "/test/faults", { target: "api.*", kind: "error_before" });
  await assert.rejects(expire(session.id), refused("CONNECTOR_ERROR"));
  await services.money.processor("DELETE", "/test/faults");
  // Turns the clock: the minute that whoever asked has for it is over.
  await services.db.rows(
    `update sessions set next_check_at = next_check_at - interval '1 minute'
     where id = $1 and next_check_at < now() + interval '61 seconds'`,
    [session.id],
  );
  await eventually("the sweeper to end it", async () => (await statusOf(session.id)) === "expired", {
    limitMs: 20_000,
  });
});

test("a session whose payment is under way is looked at, also when no event comes and nobody asks", async () => {
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
  await eventually("the sweeper to look", async () => (await status()) === "completed", { limitMs: 20_000 });
});

test("an intent that was canceled elsewhere cancels its session", async () => {
  const session = await services.create();
  await services.money.payments.cancelIntent({ paymentId: session.paymentId });
  assert.equal((await services.announced.event("session.canceled", session.id)).status, "canceled");
});

test("confirms that race an expiry end the session one way, and the money agrees with it", async () => {
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
