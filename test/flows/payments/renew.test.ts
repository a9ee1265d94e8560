// Links that live longer than the processor's page: another page takes the place of one that ended, made once however
// many ask and wherever a process died, and never are there two that can be paid.
import assert from "node:assert/strict";
import { Database } from "#platform/database/database.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { PaymentRecoveryService } from "#proto/payments/v1/recovery_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { cards, pay } from "../../harness/pay.ts";
import { suite } from "../../harness/suite.ts";
import { type CheckoutServices, type CreatedSession, startCheckoutServices } from "../checkout/services.ts";
import { refused } from "../service-config.ts";

const test = suite("renewing a page", { timeoutMs: 60_000 });
// Under what checkout waits before it asks whether a page has ended: so it asks each time, and a test ends the page.
const pageSeconds = 240;
let services: CheckoutServices;
let payments: Database;

test.before(async () => {
  services = await startCheckoutServices(undefined, undefined, {
    pageSeconds,
    reconcileAfterSeconds: 2,
    absenceAfterSeconds: 2,
    eventPollSeconds: 1,
  });
  const log = createLog("test", "error");
  payments = await Database.open({ url: services.money.paymentsDatabaseUrl, name: "test", log });
});
test.after(async () => {
  await payments?.close();
  await services?.stop();
});
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

/** As a process leaves it that died after the processor had made the renewal: nobody recorded it. */
async function forget({ paymentId }: CreatedSession, old: string): Promise<void> {
  await payments.rows(
    `with undone as (update operations set state = 'started', tries = 1, next_try_at = now() + interval '1 hour'
       where payment_id = $1 and kind = 'renew_intent')
     update payments set connector_ref = $2, renewals = 0 where id = $1`,
    [paymentId, refOf(old)],
  );
}

test("a page that lives is shown as it is, for a month", async () => {
  const session = await newSession();
  const first = await resolve(session);
  assert.equal((await resolve(session)).url, first.url);
  assert.deepEqual(await intents(session), ["requires_payment_method"]);
});

test("a buyer who comes after the page ended gets another one in its place, and pays once", async () => {
  const { session, old } = await ended();
  const { url, status, lines: shown } = await resolve(session);
  assert.deepEqual([status, shown], ["open", 2]);
  assert.notEqual(url, old);
  assert.equal((await resolve(session)).url, url, "from then on");
  assert.equal((await pay(old)).text("status"), "expired");
  assert.equal((await pay(url)).text("status"), "succeeded");
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

test("a page ends as often as it likes; attempts of all of them count", async () => {
  const session = await newSession();
  for (let renewal = 1; renewal <= 3; renewal++) {
    const { url } = await resolve(session);
    await pay(url, cards.declined);
    await endPage(url);
    assert.notEqual((await resolve(session)).url, url);
  }
  assert.deepEqual(await intents(session), ["expired", "expired", "expired", "requires_payment_method"]);
  const { merchantId, environment } = services.money;
  const { payment } = await services.money.payments.getPayment({
    merchantId,
    environment,
    paymentId: session.paymentId,
  });
  assert.equal(payment?.attempts.length, 3);
});

test("tabs that come at once get the same page, which is made once", async () => {
  const { session } = await ended();
  const seen = await Promise.all(Array.from({ length: 8 }, () => resolve(session)));
  assert.equal(new Set(seen.map(({ url }) => url)).size, 1);
  assert.deepEqual(await intents(session), ["expired", "requires_payment_method"]);
});

test("a page that is paid in the very moment of its end is the payment, and none takes its place", async () => {
  const session = await newSession();
  const { url } = await resolve(session);
  await fault({
    target: "api.intents.get",
    kind: "delay",
    ms: 400,
    count: 1,
  });
  // Asked about while it is being paid, and its time is over at once.
  const [seen] = await Promise.all([resolve(session), pay(url).then(() => endPage(url))]);
  assert.ok(seen.url === url || seen.status === "completed");
  const later = await resolve(session);
  assert.deepEqual([later.status, later.url], ["completed", ""]);
  assert.deepEqual(await intents(session), ["succeeded"]);
  const slow = await newSession();
  const { url: waiting } = await resolve(slow);
  await pay(waiting, cards.asynchronous);
  await endPage(waiting);
  const inProgress = await resolve(slow);
  assert.ok(["processing", "completed"].includes(inProgress.status ?? ""));
  await eventually("it to be paid", async () => (await slow.confirm()).status === "completed", { limitMs: 20_000 });
  assert.deepEqual(await intents(slow), ["succeeded"], "an attempt that had begun goes on to its end");
});

test("a lost answer is looked for: the page that was made is the one, and is never made twice", async () => {
  const { session } = await ended();
  const { paymentId: reference } = session;
  await fault({
    target: "api.intents.create",
    kind: "error_after",
    reference,
    count: 1,
  });
  const { url } = await resolve(session);
  assert.notEqual(url, "");
  assert.equal((await resolve(session)).url, url);
  assert.deepEqual(await intents(session), ["expired", "requires_payment_method"]);
});

test("a renewal that surely came to nothing is made under a new key; while nobody knows, nothing dead is shown", async () => {
  const { session } = await ended();
  const { paymentId: reference } = session;
  await fault({
    target: "api.intents.create",
    kind: "error_before",
    reference,
    count: 1,
  });
  await assert.rejects(resolve(session), refused("CONNECTOR_ERROR"));
  // The processor would repeat its stored fault for ever under the old key.
  const url = await eventually("a page", async () => (await resolve(session).catch(() => undefined))?.url, {
    limitMs: 30_000,
    everyMs: 300,
  });
  assert.equal((await pay(String(url))).text("status"), "succeeded");
  assert.equal((await session.confirm()).status, "completed");
  assert.deepEqual(await intents(session), ["expired", "succeeded"]);
});

test("who died after the page was made leaves it to the next buyer, or to the job", async () => {
  const [met, swept] = [await ended(), await ended()];
  const [first, second] = [await resolve(met.session), await resolve(swept.session)];
  await forget(met.session, met.old);
  assert.equal((await resolve(met.session)).url, first.url);
  await forget(swept.session, swept.old);
  await payments.rows("update operations set next_try_at = now() where payment_id = $1 and kind = 'renew_intent'", [
    swept.session.paymentId,
  ]);
  await eventually("the job to record it", async () => {
    const [row] = await payments.rows<{ connector_ref: string }>("select connector_ref from payments where id = $1", [
      swept.session.paymentId,
    ]);
    return row?.connector_ref === refOf(second.url);
  });
  for (const { session } of [met, swept]) {
    assert.deepEqual(await intents(session), ["expired", "requires_payment_method"]);
  }
});

test("a renewal that is paid before anybody has recorded it is the payment, booked once", async () => {
  const { session, old } = await ended();
  const { url } = await resolve(session);
  await forget(session, old);
  assert.equal((await pay(url)).text("status"), "succeeded");
  await eventually("its event to be taken in", async () => (await booked(session)).includes("captured 1050"));
  assert.deepEqual(await booked(session), ["captured 1050", "fee_charged 60", `intent ${refOf(url)}`]);
  assert.deepEqual(await session.confirm().then(({ status }) => status), "completed");
});

test("a renewal that was held as a second charge is none any more once it is recorded, and is booked once", async () => {
  const { session, old } = await ended();
  const { url } = await resolve(session);
  await forget(session, old);
  // As the release before takes its event in.
  await payments.rows("update payments set renewals = 7 where id = $1", [session.paymentId]);
  assert.equal((await pay(url)).text("status"), "succeeded");
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

/** What the books say of it: movements, its intent, and what is held beside it. */
async function booked({ paymentId }: CreatedSession): Promise<string[]> {
  const rows = await payments.rows<{ said: string }>(
    `select kind || ' ' || amount as said from journal where payment_id = $1
     union all select 'intent ' || connector_ref from payments where id = $1
     union all select 'item ' || state || ' ' || resolution from suspense where payment_id = $1 order by 1`,
    [paymentId],
  );
  return rows.map(({ said }) => said);
}

test("a session whose page ended lives on until its own end, and is then canceled without another page", async () => {
  const { session } = await ended();
  const { payment } = await services.money.payments.verifyIntent({ paymentId: session.paymentId });
  assert.equal(payment?.status, "pending", "the page's end is not the payment's");
  await services.makeOverdue(session.id, false);
  assert.equal((await resolve(session)).status, "expired");
  assert.deepEqual(await intents(session), ["expired"]);
  assert.equal(
    (await services.money.payments.renewIntent({ paymentId: session.paymentId })).payment?.status,
    "canceled",
  );
  assert.deepEqual(await intents(session), ["expired"], "and nobody makes one afterwards");
});

test("a session that ends while its renewal is not recorded cancels that one at the processor", async () => {
  const { session, old } = await ended();
  const { url } = await resolve(session);
  await forget(session, old);
  const { merchantId, environment } = services.money;
  const { session: after } = await services.checkout.expireSession({ merchantId, environment, sessionId: session.id });
  assert.equal(after?.status, "expired");
  assert.equal((await pay(url)).text("status"), "canceled");
  assert.deepEqual(await intents(session), ["expired", "canceled"]);
});

test("a renewal that turns up after its payment ended is canceled, so that nobody can pay it", async () => {
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
  assert.equal((await pay(url)).text("status"), "canceled");
});

test("a restored database that lost a renewal, or the whole payment, takes in the page that was paid", async () => {
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
    // Paid once it is lost: a payment that an event has taken in before would be one that nobody lost.
    for (const page of pages) assert.equal((await pay(page)).text("status"), "succeeded");
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

test("a renewal that was begun and not sent keeps the session from being ended past it", async () => {
  const { session } = await ended();
  await payments.rows(
    `insert into operations (id, kind, payment_id, reference, next_try_at, sent_after)
     values ($1, 'renew_intent', $2, $2 || '/1', now() + interval '1 hour', now())`,
    [newId("operation"), session.paymentId],
  );
  const { merchantId, environment } = services.money;
  const expiring = () => services.checkout.expireSession({ merchantId, environment, sessionId: session.id });
  await assert.rejects(expiring(), refused("CONNECTOR_ERROR"), "it may be on its way");
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
