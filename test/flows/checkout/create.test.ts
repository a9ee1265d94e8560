// Creating sessions: the merchant's answer, refusals, and one object per idempotency key whatever fails.
import assert from "node:assert/strict";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { connectPeer } from "#platform/rpc/client.ts";
import { idTimeMs, newId } from "#platform/values/id.ts";
import { Environment, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { freshKey, startCheckoutServices } from "./services.ts";

const test = suite("creating sessions", { timeoutMs: 30_000 });
const origin = "https://pay.example.com";

const services = fixture(test, () => startCheckoutServices(origin));
test.afterEach(() => services.money.processor("DELETE", "/test/faults"));

// Proves credentials: fragment
test("a new session is answered with its secret, its page and the browser's form data", async () => {
  const { merchantId, environment } = services.money;
  const order = {
    merchantId,
    environment,
    amount: 1_050n,
    currency: "EUR",
    description: "Order 7",
    customerEmail: "buyer@example.com",
    metadata: { order: "7" },
    successUrl: "https://shop.example/done",
    locale: "de-AT",
    expiresInSeconds: 600,
  };
  const { session, sessionSecret, render, checkoutUrl } = await services.checkout.createSession(order);
  assert(session);
  const suffix = session.id.slice("cs_".length);
  assert.equal(session.status, "open");
  assert.equal(session.paymentId, `pay_${suffix}`);
  assert.match(sessionSecret, new RegExp(`^cs_secret_${suffix}_[A-Za-z0-9_-]{43}$`));
  assert.equal(checkoutUrl, `${origin}/c/${session.id}#${sessionSecret}`);
  assert.equal((session.expiresAt?.seconds ?? 0n) - (session.createdAt?.seconds ?? 0n), 600n);
  assert.deepEqual([render?.connector, session.surface], ["simulator", "embedded"]);
  assert.notEqual(render?.clientSecret, "");
  const { session: read } = await services.checkout.getSession({ merchantId, environment, sessionId: session.id });
  assert.deepEqual(read, session);
  const resolved = await services.checkout.resolveSession({ sessionId: session.id, sessionSecret });
  assert.deepEqual(resolved.session, { ...session, metadata: {} });
  assert.deepEqual(resolved.render, render);
  const event = await services.announced.event("session.created", session.id);
  assert.deepEqual([event.status, event.merchantId], ["open", merchantId]);
  assert.deepEqual([event.money?.amount, event.money?.currency, event.reference], [1_050n, "EUR", ""]);
});

test("sessions of a batch keep the order of their ids, and missing ones are named", async () => {
  const order = { merchantId: services.money.merchantId, environment: services.money.environment, amount: 1_000n };
  const create = async () => (await services.checkout.createSession({ ...order, currency: "EUR" })).session;
  const [first, second] = [await create(), await create()];
  assert(first && second);
  const missing = newId("session");
  const answer = await services.checkout.batchGetSessions({ sessionIds: [second.id, missing, first.id] });
  assert.deepEqual([answer.sessions, answer.missingIds], [[second, first], [missing]]);
});

test("the database holds neither the session's secret nor the processor's in plain text", async () => {
  const session = await services.create();
  const { render } = await services.checkout.resolveSession({ sessionId: session.id, sessionSecret: session.secret });
  const [row] = await services.db.rows<{ all: string }>(
    "select s::text || encode(s.render, 'escape') || encode(s.secret_hash, 'escape') as all from sessions s where id = $1",
    [session.id],
  );
  assert(row && render);
  assert(!row.all.includes(session.secret.slice(-43)));
  assert(!row.all.includes(render.clientSecret));
});

test("a dead run is taken over after its lease", async () => {
  const key = freshKey();
  const { merchantId, environment } = services.money;
  const died = newId("session");
  await services.db.rows(
    `insert into idempotency_keys (merchant_id, environment, operation, key, fingerprint, object_id, locked_until, lock_id)
     values ($1, $2, 'create_session', $3, $4, $5, now() + interval '90 seconds', 'dead')`,
    [merchantId, environment, key, Buffer.alloc(32), died],
  );
  await assert.rejects(services.create({}, key), isRefusal("IDEMPOTENCY_CONFLICT"));
  await services.db.rows("update idempotency_keys set locked_until = now() - interval '1 second' where key = $1", [
    key,
  ]);
  assert.equal((await services.create({}, key)).id, died);
  const { session } = await services.checkout.getSession({ merchantId, environment, sessionId: died });
  // The dead run may have sent these times to payments.
  assert.equal(session?.createdAt && timestampMs(session.createdAt), idTimeMs(died));
  assert.equal(session?.expiresAt && timestampMs(session.expiresAt), idTimeMs(died) + 86_400_000);
});

test("a run whose lease was taken over stores nothing", async () => {
  const key = freshKey();
  await services.money.processor("PUT", "/test/faults", {
    target: "api.intents.create",
    kind: "delay",
    ms: 1_000,
    count: 1,
  });
  const slow = services.create({}, key).then(
    () => assert.fail("the lease was lost"),
    (error: unknown) => error,
  );
  await eventually("the key to be claimed and stolen", async () => {
    const theft = "update idempotency_keys set lock_id = 'thief' where key = $1 returning key";
    return (await services.db.rows(theft, [key])).length === 1;
  });
  assert(isRefusal("IDEMPOTENCY_CONFLICT")(await slow));
  const [row] = await services.db.rows<{ object_id: string; made: boolean }>(
    "select object_id, exists (select from sessions where id = object_id) as made from idempotency_keys where key = $1",
    [key],
  );
  assert.equal(row?.made, false);
  await services.db.rows("update idempotency_keys set locked_until = null where key = $1", [key]);
  assert.equal((await services.create({}, key)).id, row?.object_id);
});

test("too many sessions for one e-mail within ten minutes are blocked, for that merchant and e-mail only", async () => {
  const { merchantId, environment } = services.money;
  const at = (name: string) => ({ customerEmail: `${name}@example.com` });
  const template = await services.create(at("many"));
  const copies = (from: number, to: number, age: string) =>
    services.db.rows(
      `insert into sessions select (jsonb_populate_record(s, jsonb_build_object(
         'id', 'cs_0' || lpad(n::text, 25, '0'), 'created_at', now() - $4::interval))).*
       from sessions s, generate_series($2::int, $3::int) as n where s.id = $1`,
      [template.id, from, to, age],
    );
  await copies(1, 498, "1 minute");
  await copies(499, 600, "11 minutes");
  await services.create(at("many"));
  await assert.rejects(services.create(at("MANY")), isRefusal("PAYMENT_BLOCKED"));
  await services.create(at("few"));
  await services.create({ ...at("many"), merchantId: await anotherMerchant() });
  await services.db.rows("delete from sessions where id like 'cs_000000%' and merchant_id = $1 and environment = $2", [
    merchantId,
    environment,
  ]);
});

test("a merchant without a connector or not active gets no session, and can repeat the request later", async () => {
  await assert.rejects(services.create({ environment: Environment.LIVE }), isRefusal("NO_CONNECTOR"));
  const merchantId = await anotherMerchant();
  const key = freshKey();
  await setStatus(merchantId, "suspended");
  await assert.rejects(services.create({ merchantId }, key), isRefusal("FORBIDDEN"));
  await setStatus(merchantId, "active");
  assert.equal((await services.create({ merchantId }, key)).replayed, false);
});

function merchants() {
  const peer = connectPeer({ url: services.money.urls.merchant, token: services.money.settings.RPC_TOKEN });
  return { client: peer.client(MerchantService), close: () => peer.close() };
}

async function anotherMerchant(): Promise<string> {
  const { client, close } = merchants();
  const order = { name: "Neighbour", email: "shop@example.com", country: "AT", currency: "EUR" };
  const { merchant } = await client.createMerchant(order).finally(close);
  assert(merchant);
  return merchant.id;
}

async function setStatus(merchantId: string, status: string): Promise<void> {
  const { client, close } = merchants();
  await client.updateMerchantState({ merchantId, status }).finally(close);
}

test.run();
