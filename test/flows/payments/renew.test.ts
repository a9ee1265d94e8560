// Links that outlive the processor's page: an ended page is replaced once, however many buyers ask and wherever a
// process dies, and there are never two payable pages.
import assert from "node:assert/strict";
import { connectPeer } from "#platform/rpc/client.ts";
import { newId } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { PaymentRecoveryService } from "#proto/payments/v1/recovery_pb.ts";
import { openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { cards, payInFrame } from "../../harness/pay.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { type CreatedSession, startCheckoutServices } from "../checkout/services.ts";
import { isRefusal } from "../service-config.ts";

const test = suite("renewing a page", { timeoutMs: 60_000 });
// Short enough that checkout checks the page each time; a test ends the page itself.
const pageSeconds = 240;

const services = fixture(test, () =>
  startCheckoutServices(undefined, undefined, {
    pageSeconds,
    reconcileAfterSeconds: 2,
    absenceAfterSeconds: 2,
    eventPollSeconds: 1,
  }),
);
const payments = fixture(test, () => openDatabase(services.money.paymentsDatabaseUrl));
test.afterEach(() => services.money.processor("DELETE", "/test/faults"));

const monthSeconds = 30 * 86_400;
const newSession = () => services.create({ expiresInSeconds: monthSeconds, lineItems: lines });
const lines = [
  { name: "Book", quantity: 1, amount: 1_250n },
  { name: "Discount", quantity: 1, amount: -200n },
];
const resolve = async ({ id, secret }: CreatedSession) => {
  const { session, render } = await services.checkout.resolveSession({ sessionId: id, sessionSecret: secret });
  return { status: session?.status, url: render?.frameUrl ?? "", lines: session?.lineItems.length };
};
const refOf = (url: string) => new URL(url).pathname.split("/").at(-1) ?? "";
const endPage = (url: string) => services.money.processor("POST", `/test/intents/${refOf(url)}/end-page`);

async function fault(settings: Record<string, unknown>): Promise<void> {
  assert.equal((await services.money.processor("PUT", "/test/faults", settings)).status, 201);
}

/** Statuses of all intents that the processor has under the payment's reference, oldest first. */
async function intents({ paymentId }: CreatedSession): Promise<string[]> {
  const { body } = await services.money.processor("GET", `/api/intents?reference=${paymentId}`);
  const { data } = membersOf(body);
  return Array.isArray(data) ? data.map((intent) => String(membersOf(intent).status)) : [];
}

/** A session whose page has ended. */
async function ended(): Promise<{ session: CreatedSession; old: string }> {
  const session = await newSession();
  const { url } = await resolve(session);
  await endPage(url);
  return { session, old: url };
}

/** The state after a process died between the processor's renewal and its record. */
async function forget({ paymentId }: CreatedSession, old: string): Promise<void> {
  await payments.rows(
    `with undone as (update operations set state = 'started', tries = 1, next_try_at = now() + interval '1 hour'
       where payment_id = $1 and kind = 'renew_intent')
     update payments set connector_ref = $2, renewals = 0 where id = $1`,
    [paymentId, refOf(old)],
  );
}

test("a buyer who comes after the page ended gets a new page, and pays once", async () => {
  const { session, old } = await ended();
  const { url, status, lines: shown } = await resolve(session);
  assert.deepEqual([status, shown], ["open", 2]);
  assert.notEqual(url, old);
  assert.equal((await resolve(session)).url, url, "it stays");
  assert.equal((await payInFrame(old)).text("status"), "expired");
  assert.equal((await payInFrame(url)).text("status"), "succeeded");
  assert.deepEqual(await session.confirm().then(({ status: is, paymentStatus }) => [is, paymentStatus]), [
    "completed",
    "succeeded",
  ]);
  assert.deepEqual(await intents(session), ["expired", "succeeded"]);
  const [row] = await payments.rows<{ connector_ref: string; renewals: number; held: string }>(
    `select connector_ref, renewals, (select count(*) from suspense s where s.payment_id = p.id) as held
     from payments p where id = $1`,
    [session.paymentId],
  );
  assert.deepEqual(row, { connector_ref: refOf(url), renewals: 1, held: "0" });
});

test("concurrent tabs get the same new page, made once", async () => {
  const { session } = await ended();
  const seen = await Promise.all(Array.from({ length: 8 }, () => resolve(session)));
  assert.equal(new Set(seen.map(({ url }) => url)).size, 1);
  assert.deepEqual(await intents(session), ["expired", "requires_payment_method"]);
});

test("a page that is paid as it ends is the payment, and is not renewed", async () => {
  const session = await newSession();
  const { url } = await resolve(session);
  await fault({
    target: "api.intents.get",
    kind: "delay",
    ms: 400,
    count: 1,
  });
  // Checked while it is being paid, and it ends right after.
  const [seen] = await Promise.all([resolve(session), payInFrame(url).then(() => endPage(url))]);
  assert.ok(seen.url === url || seen.status === "completed");
  const later = await resolve(session);
  assert.deepEqual([later.status, later.url], ["completed", ""]);
  assert.deepEqual(await intents(session), ["succeeded"]);
  const slow = await newSession();
  const { url: waiting } = await resolve(slow);
  await payInFrame(waiting, cards.asynchronous);
  await endPage(waiting);
  const inProgress = await resolve(slow);
  assert.ok(["processing", "completed"].includes(inProgress.status ?? ""));
  await eventually("it to be paid", async () => (await slow.confirm()).status === "completed", { limitMs: 20_000 });
  assert.deepEqual(await intents(slow), ["succeeded"], "a started attempt continues");
});

test("a renewal that is paid before it is recorded is the payment, booked once", async () => {
  const { session, old } = await ended();
  const { url } = await resolve(session);
  await forget(session, old);
  assert.equal((await payInFrame(url)).text("status"), "succeeded");
  await eventually("its event to be applied", async () => (await booked(session)).includes("captured 1050"));
  assert.deepEqual(await booked(session), ["captured 1050", "fee_charged 60", `intent ${refOf(url)}`]);
  assert.deepEqual(await session.confirm().then(({ status }) => status), "completed");
});

test("a renewal held as a second charge becomes the payment when it is recorded, and is booked once", async () => {
  const { session, old } = await ended();
  const { url } = await resolve(session);
  await forget(session, old);
  // As the previous release applies its event.
  await payments.rows("update payments set renewals = 7 where id = $1", [session.paymentId]);
  assert.equal((await payInFrame(url)).text("status"), "succeeded");
  await eventually("it to be held", async () => (await booked(session)).includes("suspense_held 1050"));
  await payments.rows(
    `with back as (update payments set renewals = 0 where id = $1)
     update operations set next_try_at = now() where payment_id = $1 and kind = 'renew_intent'`,
    [session.paymentId],
  );
  await eventually("it to be the payment", async () => (await booked(session)).includes("captured 1050"));
  assert.deepEqual(await booked(session), [
    ...["captured 1050", "fee_charged 60", `intent ${refOf(url)}`],
    ...["item closed found", "suspense_held 1050", "suspense_released 1050"],
  ]);
});

/** Movements of the payment, its intent, and its unexpected funds. */
async function booked({ paymentId }: CreatedSession): Promise<string[]> {
  const rows = await payments.rows<{ line: string }>(
    `select kind || ' ' || amount as line from journal where payment_id = $1
     union all select 'intent ' || connector_ref from payments where id = $1
     union all select 'item ' || state || ' ' || resolution from suspense where payment_id = $1 order by 1`,
    [paymentId],
  );
  return rows.map(({ line }) => line);
}

test("a session with an ended page stays open until its own end, and is then canceled without a new page", async () => {
  const { session } = await ended();
  const { payment } = await services.money.payments.verifyIntent({ paymentId: session.paymentId });
  assert.equal(payment?.status, "pending", "the page ended, not the payment");
  await services.makeOverdue(session.id, false);
  assert.equal((await resolve(session)).status, "expired");
  assert.deepEqual(await intents(session), ["expired"]);
  assert.equal(
    (await services.money.payments.renewIntent({ paymentId: session.paymentId })).payment?.status,
    "canceled",
  );
  assert.deepEqual(await intents(session), ["expired"], "none is made afterwards");
});

test("a session that ends cancels an unrecorded renewal at the processor", async () => {
  const { session, old } = await ended();
  const { url } = await resolve(session);
  await forget(session, old);
  const { merchantId, environment } = services.money;
  const { session: after } = await services.checkout.expireSession({ merchantId, environment, sessionId: session.id });
  assert.equal(after?.status, "expired");
  assert.equal((await payInFrame(url)).text("status"), "canceled");
  assert.deepEqual(await intents(session), ["expired", "canceled"]);
});

test("a renewal that is found after its payment ended is canceled", async () => {
  const { session, old } = await ended();
  const { url } = await resolve(session);
  await forget(session, old);
  await payments.rows("update payments set outcome = 'canceled', next_check_at = null where id = $1", [
    session.paymentId,
  ]);
  await payments.rows("update operations set next_try_at = now() where payment_id = $1 and kind = 'renew_intent'", [
    session.paymentId,
  ]);
  await eventually("the job to cancel it", async () => (await intents(session))[1] === "canceled", { limitMs: 20_000 });
  assert.equal((await payInFrame(url)).text("status"), "canceled");
});

test("a restored database that lost a renewal or its payment books the page that was paid", async () => {
  const peer = connectPeer({ url: services.money.urls.payments, token: services.money.settings.RPC_TOKEN });
  try {
    const [known, lost] = [await ended(), await ended()];
    const pages = [(await resolve(known.session)).url, (await resolve(lost.session)).url];
    const forgotten =
      "delete from operation_history h using operations o where o.id = h.operation_id and o.payment_id = $1";
    await forget(known.session, known.old);
    for (const { paymentId } of [known.session, lost.session]) await payments.rows(forgotten, [paymentId]);
    await payments.rows("delete from operations where payment_id = $1 and kind = 'renew_intent'", [
      known.session.paymentId,
    ]);
    await payments.rows("delete from operations where payment_id = $1", [lost.session.paymentId]);
    await payments.rows("delete from payments where id = $1", [lost.session.paymentId]);
    // Paid only now, since an event would restore the payment before.
    for (const page of pages) assert.equal((await payInFrame(page)).text("status"), "succeeded");
    for (const { session } of [known, lost]) {
      const { merchantId, environment } = services.money;
      const order = { merchantId, environment, amount: 1_050n, currency: "EUR", sessionId: session.id };
      const { rebuilt } = await peer
        .client(PaymentRecoveryService)
        .rebuildPayment({ ...order, paymentId: session.paymentId });
      assert.equal(rebuilt?.status, "succeeded");
      assert.equal((await session.confirm()).status, "completed");
      const [row] = await payments.rows<{ renewals: number; held: string }>(
        `select renewals, (select count(*) from suspense s where s.payment_id = p.id) as held from payments p where id = $1`,
        [session.paymentId],
      );
      assert.deepEqual(row, { renewals: 1, held: "0" }, "no second charge");
    }
  } finally {
    peer.close();
  }
});

test("a session cannot expire while a renewal may have been sent", async () => {
  const { session } = await ended();
  await payments.rows(
    `insert into operations (id, kind, payment_id, reference, next_try_at, sent_after)
     values ($1, 'renew_intent', $2, $2 || '/1', now() + interval '1 hour', now())`,
    [newId("operation"), session.paymentId],
  );
  const { merchantId, environment } = services.money;
  const expiring = () => services.checkout.expireSession({ merchantId, environment, sessionId: session.id });
  await assert.rejects(expiring(), isRefusal("CONNECTOR_ERROR"), "it may have been sent");
  await eventually(
    "absence to be proved",
    async () => (await expiring().catch(() => undefined))?.session?.status === "expired",
    {
      limitMs: 30_000,
      everyMs: 300,
    },
  );
  assert.deepEqual(await intents(session), ["expired"]);
});

test.run();
