// Operations on deliveries: events, endpoint health, bulk retries and metrics.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { register as metrics } from "prom-client";
import { Failure } from "#platform/values/failure.ts";
import { idFloor, newId } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { measureQueue } from "../../../services/webhook/jobs/measure-queue.ts";
import { webhookMetrics } from "../../../services/webhook/metrics.ts";
import { stepReplayRun } from "../../../services/webhook/store/replay-runs.ts";
import { eventually } from "../../harness/eventually.ts";
import { startReceiver } from "../../harness/receiver.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { startWebhookTest } from "./service.ts";

const test = suite("webhook operations", { timeoutMs: 120_000 });

const t = fixture(test, () =>
  startWebhookTest({ WEBHOOK_RETRY_BASE_MS: 10, WEBHOOK_RETRY_CAP_MS: 10, WEBHOOK_ATTEMPTS_MAX: 2 }),
);
const receiver = fixture(test, () => startReceiver(t.tls));
test.beforeEach(() => receiver.answer({ status: 200 }));

async function register(owner = { merchantId: newId("merchant"), environment: 1 as const }) {
  const { endpoint } = await t.webhooks.createEndpoint({
    ...owner,
    url: receiver.url,
    eventTypes: ["payment.succeeded"],
  });
  assert(endpoint);
  return { ...owner, endpointId: endpoint.id };
}

const isInvalid = (error: unknown) => error instanceof Failure && error.reason === "INVALID_BODY";
const isNotFound = (error: unknown) => error instanceof Failure && error.reason === "NOT_FOUND";

test("an event is read with its deliveries, by its own merchant and environment only", async () => {
  const owner = await register();
  await t.announce({ merchantId: owner.merchantId });
  const event = await eventually("the event and its position", async () => {
    const [listed] = (await t.webhooks.listEvents(owner)).events;
    return listed && listed.position > 0n && listed;
  });
  const input = { merchantId: owner.merchantId, environment: owner.environment, eventId: event.id };
  const found = await eventually("its delivery", async () => {
    const answer = await t.webhooks.getEvent(input);
    return answer.deliveries.some(({ delivery }) => delivery?.delivered) ? answer : undefined;
  });
  assert.deepEqual(found.event, event);
  assert.deepEqual(
    found.deliveries.map(({ endpointId, delivery }) => [endpointId, delivery?.payload.length]),
    [[owner.endpointId, 0]],
  );
  for (const foreign of [
    { ...input, merchantId: newId("merchant") },
    { ...input, environment: 2 as const },
    { ...input, eventId: newId("event") },
  ]) {
    await assert.rejects(t.webhooks.getEvent(foreign), isNotFound);
  }
});

test("an endpoint's health counts delivered, failed and pending deliveries and every attempt", async () => {
  const own = await register();
  await t.announce({ merchantId: own.merchantId });
  await eventually("a success", async () => (await t.webhooks.getEndpointHealth(own)).delivered === 1n);
  receiver.answer({ status: 500 });
  await t.announce({ merchantId: own.merchantId });
  await eventually("a failure", async () => (await t.webhooks.getEndpointHealth(own)).failed === 1n);
  await t.db.rows(
    `insert into delivery_queue (merchant_id, endpoint_id, id, event_type, body, due_at, scheduled_at)
     values ($1, $2, $3, 'test.ping', '{}', now() + interval '1 hour', now())`,
    [own.merchantId, own.endpointId, newId("delivery")],
  );
  const health = await t.webhooks.getEndpointHealth(own);
  assert.deepEqual(
    [health.delivered, health.failed, health.pending, health.attempts, health.failedAttempts],
    [1n, 1n, 1n, 3n, 2n],
  );
  assert(health.oldestPendingAt);
  await assert.rejects(t.webhooks.getEndpointHealth({ ...own, environment: 2 }), isNotFound);
});

test("failed deliveries of merchants are counted since a time, in their environment", async () => {
  const [own, other] = [await register(), await register()];
  receiver.answer({ status: 500 });
  const since = timestampFromDate(new Date(Date.now() - 1_000));
  await t.announce({ merchantId: own.merchantId });
  const merchantIds = [own.merchantId, other.merchantId];
  const failed = async (change: object = {}) =>
    (await t.webhooks.countFailedDeliveries({ environment: 1, merchantIds, since, ...change })).failed;
  await eventually("a failure", async () => (await t.webhooks.getEndpointHealth(own)).failed === 1n);
  assert.deepEqual(await failed(), { [own.merchantId]: 1n });
  assert.deepEqual(await failed({ environment: 2 }), {});
  assert.deepEqual(await failed({ merchantIds: [other.merchantId] }), {});
  assert.deepEqual(await failed({ since: timestampFromDate(new Date(Date.now() + 60_000)) }), {});
});

test("a retry run retries all failed deliveries since a time and reports its progress", async () => {
  const own = await register();
  await t.announce({ merchantId: own.merchantId });
  await eventually("a success", async () => (await t.webhooks.getEndpointHealth(own)).delivered === 1n);
  // Many failed deliveries.
  await t.db.rows(
    `insert into deliveries (merchant_id, endpoint_id, id, event_type, payment_id, body, attempts, generation, state,
       status_code, last_error, created_at)
     select $1, $2, overlay(template.id placing lpad(n::text, 8, '0') from 23), template.event_type, template.payment_id,
       template.body, 2, 0, 'failed', 500, 'http_500: x', now()
     from generate_series(1, 1200) as n, (select * from deliveries where merchant_id = $1) as template`,
    [own.merchantId, own.endpointId],
  );
  const later = timestampFromDate(new Date(Date.now() + 60_000));
  const none = await t.webhooks.retryFailedDeliveries({ ...own, since: later });
  assert.equal(none.run?.total, 0n);
  const { run } = await t.webhooks.retryFailedDeliveries({
    ...own,
    since: timestampFromDate(new Date(Date.now() - 3_600_000)),
  });
  assert.equal(run?.total, 1_200n);
  const finished = await eventually("the run to be finished", async () => {
    const { run: now } = await t.webhooks.getRetryRun({ ...own, runId: run.id });
    return now?.status === "finished" ? now : undefined;
  });
  assert.equal(finished.queued, 1_200n);
  await eventually("all to be delivered", async () => (await t.webhooks.getEndpointHealth(own)).delivered === 1_201n);
  assert.equal((await t.webhooks.getEndpointHealth(own)).failed, 0n);
  await assert.rejects(t.webhooks.getRetryRun({ ...own, merchantId: newId("merchant"), runId: run.id }), isNotFound);
});

async function addEvents(owner: { merchantId: string; environment: number }, count: number, type: string, at: Date) {
  const ids = Array.from({ length: count }, (_, i) => `${idFloor("event", at.getTime() + i).slice(0, -1)}1`);
  await t.db.rows(
    `insert into events (merchant_id, environment, type, id, payment_id, body)
     select $1, $2::smallint, $3, id, 'pay_x', convert_to(json_build_object('type', $3::text, 'n', id)::text, 'UTF8')
     from unnest($4::text[]) as id`,
    [owner.merchantId, owner.environment, type, ids],
  );
  return ids;
}

const finishedRun = async (owner: { merchantId: string; environment: 1 | 2 }, runId: string) =>
  await eventually("the run to be finished", async () => {
    const { run } = await t.webhooks.getRetryRun({ ...owner, runId });
    return run?.status === "finished" && run;
  });

test("a replay sends each event without a delivery once: called twice at once, by two processes, and after crashes", async () => {
  const owner = { merchantId: newId("merchant"), environment: 1 as const };
  const at = new Date(Date.now() - 60_000);
  const ids = await addEvents(owner, 1_200, "payment.succeeded", at);
  const own = await register(owner);
  const before = receiver.received.length;
  const replay = () => t.webhooks.replayEvents({ ...own, since: timestampFromDate(at) });
  const runs = await Promise.all([replay(), replay()]);
  const crash = t.db.transaction(async (tx) => {
    await stepReplayRun(tx);
    throw new Error("crash");
  });
  await Promise.all([assert.rejects(crash, /crash/), ...[1, 2, 3].map(() => t.db.transaction(stepReplayRun))]);
  const finished = await Promise.all(runs.map(({ run }) => finishedRun(owner, run?.id ?? "")));
  assert.equal(
    finished.reduce((sum, run) => sum + run.queued, 0n),
    1_200n,
  );
  await eventually("all to be delivered", async () => {
    const [row] = await t.db.rows<{ n: number }>(
      "select count(*)::int as n from deliveries where merchant_id = $1 and state = 'delivered'",
      [own.merchantId],
    );
    return row?.n === 1_200;
  });
  const sent = receiver.received.slice(before).map(({ body }) => String(membersOf(JSON.parse(body.toString())).n));
  assert.deepEqual(sent.sort(), ids);
  const again = await replay();
  assert.equal(again.run?.total, 0n);
  assert.equal((await finishedRun(owner, again.run.id)).queued, 0n);
});

test("a replay takes the endpoint's event types, or chosen ones, of the range and environment alone", async () => {
  const owner = { merchantId: newId("merchant"), environment: 1 as const };
  const at = new Date(Date.now() - 60_000);
  await addEvents(owner, 3, "payment.succeeded", at);
  await addEvents(owner, 2, "payment.refunded", new Date(at.getTime() + 20));
  await addEvents({ ...owner, environment: 2 }, 1, "payment.succeeded", at);
  await addEvents({ ...owner, merchantId: newId("merchant") }, 1, "payment.succeeded", at);
  const own = await register(owner);
  const since = timestampFromDate(at);
  const queued = async (range: object = {}) => {
    const { run } = await t.webhooks.replayEvents({ ...own, since, ...range });
    assert(run);
    assert.equal((await finishedRun(owner, run.id)).queued, run.total);
    return Number(run.queued + run.total);
  };
  assert.equal(await queued({ since: timestampFromDate(new Date(at.getTime() + 10)) }), 0);
  assert.equal(await queued({ until: timestampFromDate(new Date(at.getTime() + 1)) }), 1);
  assert.equal(await queued(), 2);
  assert.equal(await queued({ eventTypes: ["payment.refunded", "payment.refunded"] }), 2);
  await assert.rejects(t.webhooks.replayEvents({ ...own, since, eventTypes: ["payment.x"] }), isInvalid);
  await assert.rejects(t.webhooks.replayEvents({ ...own, since, merchantId: newId("merchant") }), isNotFound);
});

test("metrics count attempts by result, and the lag of due work separately for silent endpoints", async () => {
  const own = await register();
  receiver.answer({ status: 503 });
  const before = { delivered: await counted("delivered"), refused: await counted("http_5xx") };
  await t.announce({ merchantId: own.merchantId });
  await eventually("a failure", async () => (await t.webhooks.getEndpointHealth(own)).failed === 1n);
  receiver.answer({ status: 200 });
  await t.announce({ merchantId: own.merchantId });
  await eventually("a success", async () => (await t.webhooks.getEndpointHealth(own)).delivered === 1n);
  assert.equal(await counted("http_5xx"), before.refused + 2);
  assert.equal(await counted("delivered"), before.delivered + 1);
  // Work that is an hour late, of an endpoint without claims.
  await t.db.rows(
    `insert into delivery_queue (merchant_id, endpoint_id, id, event_type, body, due_at, lease_until)
     values ($1, $2, $3, 'test.ping', '{}', now() - interval '1 hour', now() + interval '1 hour')`,
    [own.merchantId, own.endpointId, newId("delivery")],
  );
  // The service measures too, and counts the endpoint as answering.
  await eventually("the lag of silent endpoints alone", async () => {
    await measureQueue({ db: t.db, metrics: webhookMetrics(metrics), isSilent: () => true });
    const lag = (endpoints: string) => value("tollbooth_webhook_due_lag_seconds", { endpoints });
    return (await lag("silent")) >= 3_600 && (await lag("answering")) === 0;
  });
  const text = await metrics.metrics();
  for (const name of ["queue_rows", "in_flight", "waiting", "lanes", "attempt_seconds", "record_batch_size"]) {
    assert(text.includes(`# TYPE tollbooth_webhook_${name} `), name);
  }
  assert(!text.includes(own.endpointId) && !text.includes(own.merchantId));
});

const counted = (outcome: string) => value("tollbooth_webhook_attempts_total", { outcome });

async function value(name: string, labels: Record<string, string>): Promise<number> {
  const metric = await metrics.getSingleMetric(name)?.get();
  const fits = (own: object) => Object.entries(labels).every(([key, wanted]) => Reflect.get(own, key) === wanted);
  return metric?.values.find((entry) => fits(entry.labels))?.value ?? 0;
}

test.run();
