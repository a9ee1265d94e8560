// Consumers of payments' events act only on events that payments confirms. This broker lets every client publish, as if
// its keys were stolen; a proxy makes payments unreachable.
import assert from "node:assert/strict";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { register } from "prom-client";
import type { Database } from "#platform/database/database.ts";
import { connectBroker } from "#platform/events/connection.ts";
import { refusedEvents } from "#platform/events/event-message.ts";
import { eventSubject, streamName } from "#platform/events/streams.ts";
import { newId } from "#platform/values/id.ts";
import type { NatsConnection } from "#platform/values/nats.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { type BadLink, openLink } from "../../chaos/link.ts";
import { openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { type Receiver, startReceiver } from "../../harness/receiver.ts";
import { suite } from "../../harness/suite.ts";
import { type CheckoutServices, type CreatedSession, startCheckoutServices } from "../checkout/services.ts";
import { startWebhookTest, type WebhookTest } from "../webhook/service.ts";

// Retries are up to 30 seconds apart.
const test = suite("announced events", { timeoutMs: 120_000 });
const againWithin = { limitMs: 90_000 };
const closedPort = 9;
const consumers = ["checkout-payments", "webhook-fan-out"] as const;

let link: BadLink;
let isReachable = true;
let services: CheckoutServices;
let webhook: WebhookTest;
let receiver: Receiver;
let nats: NatsConnection;
let paymentsDb: Database;

test.before(async () => {
  services = await startCheckoutServices(undefined, async (url) => {
    const port = Number(new URL(url).port);
    link = await openLink(() => (isReachable ? port : closedPort));
    return `http://127.0.0.1:${link.port}`;
  });
  const { settings, paymentsDatabaseUrl } = services.money;
  nats = await connectBroker({ url: settings.NATS_URL }, { name: "test" });
  paymentsDb = await openDatabase(paymentsDatabaseUrl);
});
test.after(async () => {
  await webhook?.stop();
  await receiver?.close();
  await nats?.close();
  await paymentsDb?.close();
  await services?.stop();
  await link?.close();
});

test("while payments is unavailable a paid session waits, and then completes by the same event", async () => {
  const session = await services.create();
  makeUnreachable();
  await settled(session);
  await eventually("the event to be offered again", async () => (await consumerState("checkout-payments")).again > 0);
  assert.equal(await statusOf(session), "open");
  isReachable = true;
  await eventually("the session to be completed", async () => (await statusOf(session)) === "completed", againWithin);
  await eventually("nothing to be open", async () => (await consumerState("checkout-payments")).open === 0);
});

test("an old event of a refunded payment is delivered once payments is available", async () => {
  const { merchantId, environment, payments, settings } = services.money;
  const session = await services.create();
  await settled(session);
  await payments.refundPayment({ merchantId, environment, paymentId: session.paymentId });
  makeUnreachable();
  webhook = await startWebhookTest({
    NATS_NAMESPACE: settings.NATS_NAMESPACE,
    PAYMENTS_URL: `http://127.0.0.1:${link.port}`,
    RPC_TOKEN_FILE: settings.RPC_TOKEN_FILE,
  });
  receiver = await startReceiver(webhook.tls);
  const eventTypes = ["payment.succeeded", "payment.refunded"];
  await webhook.webhooks.createEndpoint({ merchantId, environment, url: receiver.url, eventTypes });
  await eventually("the events to be offered again", async () => (await consumerState("webhook-fan-out")).again > 0);
  assert.deepEqual(deliveriesOf(session.paymentId), []);
  isReachable = true;
  await eventually("both to be delivered", () => deliveriesOf(session.paymentId).length >= 2, againWithin);
  assert.deepEqual(deliveriesOf(session.paymentId).sort(), [
    "payment.refunded refunded",
    "payment.succeeded succeeded",
  ]);
});

test("an event that payments did not announce completes no session, makes no delivery, is counted and not redelivered", async () => {
  const [unpaid, paid] = [await services.create(), await services.create()];
  await settled(paid);
  await eventually("the paid session to be completed", async () => (await statusOf(paid)) === "completed", againWithin);
  const genuine = await announcedEvent(paid.paymentId);
  await eventually("it to be delivered", () => deliveriesOf(paid.paymentId).length > 0, againWithin);
  const ofNoPayment = claim(unpaid, { objectId: newId("payment") });
  const forged = [
    ofNoPayment,
    claim(unpaid, {}),
    // The id of a real event with other contents.
    create(EventSchema, { ...genuine, objectId: unpaid.paymentId, attributes: claim(unpaid, {}).attributes }),
    // An invalid id, which must not fail the whole batch.
    claim(unpaid, { id: "evt_x" }),
  ];
  const before = { refused: await notAnnounced(), deliveries: await deliveriesMade() };
  for (const event of forged) await publish(event);
  await eventually("both consumers to reject all", async () => {
    return (await notAnnounced()) >= before.refused + consumers.length * forged.length;
  });
  const after = await services.create();
  await settled(after);
  await eventually(
    "the session after them to complete",
    async () => (await statusOf(after)) === "completed",
    againWithin,
  );
  await eventually("its delivery", () => deliveriesOf(after.paymentId).length > 0, againWithin);
  assert.equal(await statusOf(unpaid), "open");
  assert.deepEqual([deliveriesOf(unpaid.paymentId), deliveriesOf(ofNoPayment.objectId)], [[], []]);
  await eventually("only its deliveries to exist", async () => {
    return (await deliveriesMade()) === before.deliveries + deliveriesOf(after.paymentId).length;
  });
  assert.equal(await notAnnounced(), before.refused + consumers.length * forged.length);
  for (const name of consumers)
    await eventually("nothing to be open", async () => (await consumerState(name)).open === 0);
});

/** Breaks the connections to payments; new ones are refused until it is reachable again. */
function makeUnreachable(): void {
  isReachable = false;
  link.cut();
}

/** Pays, and has payments settle it without checkout. */
async function settled(session: CreatedSession): Promise<void> {
  await session.pay();
  await services.money.payments.verifyIntent({ paymentId: session.paymentId });
}

async function statusOf({ id }: CreatedSession): Promise<string | undefined> {
  return (await services.db.rows<{ status: string }>("select status from sessions where id = $1", [id]))[0]?.status;
}

/** Events about the payment that the merchant received. */
function deliveriesOf(paymentId: string): string[] {
  const bodies = (receiver?.received ?? []).map(({ body }) => JSON.parse(body.toString()));
  return bodies.filter((body) => body.payment_id === paymentId).map((body) => `${body.type} ${body.status}`);
}

/** Redelivered and open events of the durable consumer. */
async function consumerState(name: (typeof consumers)[number]): Promise<{ again: number; open: number }> {
  const stream = streamName(services.money.settings.NATS_NAMESPACE, "payments");
  const info = await (await nats.jetstreamManager()).consumers.info(stream, name);
  return { again: info.num_redelivered, open: info.num_ack_pending + info.num_pending };
}

/** The event by which payments announced that the payment succeeded. */
async function announcedEvent(paymentId: string): Promise<Event> {
  const rows = await paymentsDb.rows<{ body: Buffer }>("select body from outbox");
  const events = rows.map(({ body }) => fromBinary(EventSchema, body));
  const found = events.find(({ objectId, type }) => objectId === paymentId && type === "payment.succeeded");
  assert(found);
  return found;
}

function claim(session: CreatedSession, change: { id?: string; objectId?: string }): Event {
  const { merchantId, environment } = services.money;
  return create(EventSchema, {
    id: change.id ?? newId("event"),
    type: "payment.succeeded",
    source: "payments",
    merchantId,
    environment,
    objectId: change.objectId ?? session.paymentId,
    status: "succeeded",
    occurredAt: timestampNow(),
    attributes: { session_id: session.id, outcome: "succeeded", version: "9", receipt_url: "https://thief.example" },
  });
}

async function publish(event: Event): Promise<void> {
  const subject = eventSubject(services.money.settings.NATS_NAMESPACE, "payments", event.type);
  await nats.jetstream().publish(subject, toBinary(EventSchema, event));
}

async function notAnnounced(): Promise<number> {
  const { values } = await refusedEvents(register).get();
  return (
    values.find(({ labels }) => labels.source === "payments" && labels.why === "not_announced")?.value ?? Number.NaN
  );
}

async function deliveriesMade(): Promise<number> {
  const [row] = await webhook.db.rows<{ count: number }>("select count(*)::int as count from deliveries");
  return row?.count ?? Number.NaN;
}

test.run();
