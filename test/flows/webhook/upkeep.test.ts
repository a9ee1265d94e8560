// Upkeep of deliveries: partitions and retention, overdue deliveries, and the operator's egress proxy.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { connect } from "node:net";
import { Outbox } from "#platform/events/outbox.ts";
import { newId } from "#platform/values/id.ts";
import { keepPartitions } from "../../../services/webhook/jobs/keep-partitions.ts";
import { sweepOverdue } from "../../../services/webhook/jobs/sweep.ts";
import { dayMs, listPartitions, partitionedTables } from "../../../services/webhook/store/partitions.ts";
import { eventually } from "../../harness/eventually.ts";
import { startReceiver } from "../../harness/receiver.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { listenTo } from "../service-config.ts";
import { startWebhookTest, type WebhookTest } from "./service.ts";

const test = suite("webhook upkeep", { timeoutMs: 60_000 });

const t = fixture(test, () => startWebhookTest());
const receiver = fixture(test, () => startReceiver(t.tls));

async function register(own: WebhookTest = t) {
  const owner = { merchantId: newId("merchant"), environment: 1 as const };
  const input = { ...owner, url: receiver.url, eventTypes: ["payment.succeeded"] };
  return { ...owner, endpointId: (await own.webhooks.createEndpoint(input)).endpoint?.id ?? "" };
}

async function deliveries(of: Awaited<ReturnType<typeof register>>, own: WebhookTest = t) {
  return (await own.webhooks.listDeliveries(of)).deliveries;
}

const waitMs = { limitMs: 30_000, everyMs: 100 };

test("the query for one delivery uses the primary key without statistics", async () => {
  const plan = await t.db.transaction(async (tx) => {
    await tx.rows("set local enable_seqscan = off");
    await tx.rows("set local enable_bitmapscan = off");
    return await tx.rows(
      "explain select from delivery_queue where merchant_id = 'mer_1' and endpoint_id = 'whk_1' and id = 'whd_1'",
    );
  });
  assert.match(JSON.stringify(plan), /using delivery_queue_pkey/);
});

test("an overdue delivery is given up and announced; one of a disabled endpoint stays", async () => {
  const announced = await listenTo(t.config, "webhook");
  const [active, disabled] = [await register(), await register()];
  await t.webhooks.updateEndpoint({ ...disabled, status: "disabled" });
  await t.db.rows("update endpoints set status_changed_at = now() - interval '9 days'");
  const ids = [newId("delivery"), newId("delivery")];
  for (const [i, { merchantId, endpointId }] of [active, disabled].entries()) {
    await t.db.rows(
      `insert into delivery_queue (merchant_id, endpoint_id, id, event_type, body, due_at, scheduled_at)
       values ($1, $2, $3, 'test.ping', '{}', now() + interval '1 hour', now() - interval '8 days')`,
      [merchantId, endpointId, ids[i]],
    );
  }
  const outbox = new Outbox({ namespace: t.config.NATS_NAMESPACE, source: "webhook" });
  await sweepOverdue(t.db, outbox, { baseMs: 60_000, capMs: 3_600_000, attemptsMax: 78 });
  const [expired] = await deliveries(active);
  assert.deepEqual([expired?.failed, expired?.attempts], [true, 0]);
  assert.match(expired?.lastError ?? "", /^not_attempted: /);
  const [kept] = await deliveries(disabled);
  assert(kept && !kept.failed && !kept.delivered);
  await announced.event("delivery.exhausted", ids[0] ?? "");
  await announced.stop();
});

test("a delivery that has failed for an hour is announced once and is still retried", async () => {
  const own = await startWebhookTest({ WEBHOOK_RETRY_BASE_MS: 10, WEBHOOK_RETRY_CAP_MS: 10, WEBHOOK_ATTEMPTS_MAX: 9 });
  const announced = await listenTo(own.config, "webhook");
  const broken = await startReceiver(own.tls);
  broken.answer({ status: 503 });
  const owner = { merchantId: newId("merchant"), environment: 2 as const };
  const input = { ...owner, url: `${broken.url}/secret-path`, eventTypes: ["payment.succeeded"] };
  const endpointId = (await own.webhooks.createEndpoint(input)).endpoint?.id ?? "";
  await own.announce(owner);
  const exhausted = await eventually(
    "the delivery to be given up",
    async () => (await own.webhooks.listDeliveries({ ...owner, endpointId })).deliveries.find(({ failed }) => failed),
    waitMs,
  );
  assert.equal(exhausted.attempts, 9);
  const { attributes, environment, status } = await announced.event("delivery.failing", exhausted.id);
  assert.deepEqual([environment, status], [2, "pending"]);
  assert.deepEqual(attributes, {
    endpoint_id: endpointId,
    endpoint_host: new URL(broken.url).host,
    event_type: "payment.succeeded",
    last_error: "http_503: the endpoint answered 503",
  });
  await announced.event("delivery.exhausted", exhausted.id);
  assert.equal(announced.count("delivery.failing", exhausted.id), 1);
  await announced.stop();
  await broken.close();
  await own.stop();
});

test("partitions exist a week ahead; attempts are dropped after 30 days, deliveries after 94", async () => {
  const own = await register();
  await t.announce({ merchantId: own.merchantId });
  const delivered = await eventually(
    "the delivery",
    async () => (await deliveries(own)).find((delivery) => delivery.delivered),
    waitMs,
  );
  await t.db.rows(
    `insert into delivery_queue (merchant_id, endpoint_id, id, event_type, body, due_at, scheduled_at)
     values ($1, $2, $3, 'test.ping', '{}', now() + interval '1 hour', now())`,
    [own.merchantId, own.endpointId, newId("delivery")],
  );
  const now = Date.now();
  const today = Math.floor(now / dayMs);
  for (const table of partitionedTables) {
    const days = (await listPartitions(t.db, table)).map((day) => day / dayMs - today);
    for (let ahead = 0; ahead <= 7; ahead++) assert(days.includes(ahead), `${table} ${ahead}`);
  }
  const attempts = async () =>
    (await t.webhooks.listAttempts({ merchantId: own.merchantId, deliveryId: delivered.id })).attempts.length;
  // As the job does: while a table is in use, dropping a partition fails and is repeated.
  const keep = (at: number) => eventually("the partitions", async () => !(await keepPartitions(t.db, at)));
  await keep(now);
  assert.deepEqual([await attempts(), (await deliveries(own)).length], [1, 2]);
  await keep(now + 32 * dayMs);
  assert.deepEqual([await attempts(), (await deliveries(own)).length], [0, 2]);
  await keep(now + 96 * dayMs);
  assert.deepEqual(await deliveries(own), []);
});

test("deliveries go through the egress proxy to the checked address; an unavailable proxy costs no attempt", async () => {
  const targets: string[] = [];
  let isRefusing = false;
  const proxy = createServer().on("connect", (request, socket, head) => {
    targets.push(request.url ?? "");
    if (isRefusing) return socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const upstream = connect(Number(request.url?.split(":").at(-1)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [socket, upstream]) end.on("error", () => {});
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  const port = typeof address === "object" ? address?.port : 0;
  const behind = await startWebhookTest({ WEBHOOK_EGRESS_PROXY: `http://127.0.0.1:${port}` });
  // This service trusts only its own authority, so it needs its own receiver.
  const ownReceiver = await startReceiver(behind.tls);
  const owner = { merchantId: newId("merchant"), environment: 1 as const };
  const create = async () =>
    (await behind.webhooks.createEndpoint({ ...owner, url: ownReceiver.url, eventTypes: ["payment.succeeded"] }))
      .endpoint?.id ?? "";
  const first = { ...owner, endpointId: await create() };
  await behind.webhooks.sendTestEvent(first);
  await eventually("the delivery", async () => (await deliveries(first, behind))[0]?.delivered, waitMs);
  assert.deepEqual(targets, [`127.0.0.1:${new URL(ownReceiver.url).port}`]);
  isRefusing = true;
  const second = { ...owner, endpointId: await create() };
  await behind.webhooks.sendTestEvent(second);
  const refused = await eventually(
    "a refusal",
    async () => (await deliveries(second, behind)).find((delivery) => delivery.attempts > 0),
    waitMs,
  );
  assert.match(refused.lastError, /^blocked_address: /);
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
  const third = { ...owner, endpointId: await create() };
  const { deliveryId } = await behind.webhooks.sendTestEvent(third);
  const postponed = await eventually(
    "the delivery to be postponed",
    async () => {
      const [row] = await behind.db.rows<{ attempts: number; tries: number }>(
        "select attempts, tries from delivery_queue where id = $1 and due_at > created_at + interval '5 seconds'",
        [deliveryId],
      );
      return row;
    },
    waitMs,
  );
  assert.deepEqual(postponed, { attempts: 0, tries: 0 });
  await ownReceiver.close();
  await behind.stop();
});

test.run();
