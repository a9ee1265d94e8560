// What followers of payments' events act on: what payments itself says that it announced. The broker of these tests
// lets anybody publish anything, as one does whose keys were stolen; everything else is real, and payments can be put
// out of reach.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { NatsConnection } from "nats";
import { register } from "prom-client";
import { Database } from "#platform/database/database.ts";
import { connectBroker } from "#platform/events/connection.ts";
import { refusedEvents } from "#platform/events/event-message.ts";
import { eventSubject, streamName } from "#platform/events/streams.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { type Receiver, startReceiver } from "../../harness/receiver.ts";
import { suite } from "../../harness/suite.ts";
import { type CheckoutServices, type CreatedSession, startCheckoutServices } from "../checkout/services.ts";
import { startWebhookTest, type WebhookTest } from "../webhook/service.ts";

// What is tried again waits for up to 30 seconds in between.
const test = suite("announced events", { timeoutMs: 120_000 });
const againWithin = { limitMs: 90_000 };
const followers = ["checkout-payments", "webhook-fan-out"] as const;

let proxy: TcpProxy;
let services: CheckoutServices;
let webhook: WebhookTest;
let receiver: Receiver;
let nats: NatsConnection;
let paymentsDb: Database;

test.before(async () => {
  services = await startCheckoutServices(undefined, async (url) => {
    proxy = await startProxy(Number(new URL(url).port));
    return `http://127.0.0.1:${proxy.port}`;
  });
  const { settings, paymentsDatabaseUrl } = services.money;
  nats = await connectBroker({ url: settings.NATS_URL }, { name: "test" });
  paymentsDb = await Database.open({ url: paymentsDatabaseUrl, name: "test", log: createLog("test", "error") });
});
test.after(async () => {
  await webhook?.stop();
  await receiver?.close();
  await nats?.close();
  await paymentsDb?.close();
  await services?.stop();
  await proxy?.close();
});

test("while payments is away a paid session waits, and completes by the same event when payments is back", async () => {
  const session = await services.create();
  proxy.shut();
  await settled(session);
  await eventually("the event to be offered again", async () => (await follower("checkout-payments")).again > 0);
  assert.equal(await statusOf(session), "open");
  proxy.open();
  await eventually("the session to be completed", async () => (await statusOf(session)) === "completed", againWithin);
  await eventually("nothing to be open", async () => (await follower("checkout-payments")).open === 0);
});

test("an old event of a payment that was refunded since is still delivered, once payments can be asked", async () => {
  const { merchantId, environment, payments, settings } = services.money;
  const session = await services.create();
  await settled(session);
  await payments.refundPayment({ merchantId, environment, paymentId: session.paymentId });
  proxy.shut();
  webhook = await startWebhookTest({
    NATS_NAMESPACE: settings.NATS_NAMESPACE,
    PAYMENTS_URL: `http://127.0.0.1:${proxy.port}`,
    RPC_TOKEN_FILE: settings.RPC_TOKEN_FILE,
  });
  receiver = await startReceiver(webhook.tls);
  const eventTypes = ["payment.succeeded", "payment.refunded"];
  await webhook.webhooks.createEndpoint({ merchantId, environment, url: receiver.url, eventTypes });
  await eventually("the events to be offered again", async () => (await follower("webhook-fan-out")).again > 0);
  assert.deepEqual(deliveriesOf(session.paymentId), []);
  proxy.open();
  await eventually("both to be delivered", () => deliveriesOf(session.paymentId).length >= 2, againWithin);
  assert.deepEqual(deliveriesOf(session.paymentId).sort(), [
    "payment.refunded refunded",
    "payment.succeeded succeeded",
  ]);
});

test("what payments never announced completes no session, becomes no delivery, is counted and is never offered again", async () => {
  const [unpaid, paid] = [await services.create(), await services.create()];
  await settled(paid);
  await eventually("the paid session to be completed", async () => (await statusOf(paid)) === "completed", againWithin);
  const genuine = await announcedEvent(paid.paymentId);
  await eventually("it to be delivered", () => deliveriesOf(paid.paymentId).length > 0, againWithin);
  const ofNoPayment = claim(unpaid, { objectId: newId("payment") });
  const forged = [
    ofNoPayment,
    claim(unpaid, {}),
    // A store that was edited: the id is payments' own, the words are not.
    create(EventSchema, { ...genuine, objectId: unpaid.paymentId, attributes: claim(unpaid, {}).attributes }),
    // One that would have the whole batch refused, if it were asked about.
    claim(unpaid, { id: "evt_x" }),
  ];
  const before = { refused: await notAnnounced(), deliveries: await deliveriesMade() };
  for (const event of forged) await publish(event);
  await eventually("both followers to have refused all", async () => {
    return (await notAnnounced()) >= before.refused + followers.length * forged.length;
  });
  const after = await services.create();
  await settled(after);
  await eventually("what comes after them", async () => (await statusOf(after)) === "completed", againWithin);
  await eventually("its delivery", () => deliveriesOf(after.paymentId).length > 0, againWithin);
  assert.equal(await statusOf(unpaid), "open");
  assert.deepEqual([deliveriesOf(unpaid.paymentId), deliveriesOf(ofNoPayment.objectId)], [[], []]);
  await eventually("every delivery to be of it", async () => {
    return (await deliveriesMade()) === before.deliveries + deliveriesOf(after.paymentId).length;
  });
  assert.equal(await notAnnounced(), before.refused + followers.length * forged.length);
  for (const name of followers) await eventually("nothing to be open", async () => (await follower(name)).open === 0);
});

/** Pays, and has payments take it in without checkout. */
async function settled(session: CreatedSession): Promise<void> {
  await session.pay();
  await services.money.payments.verifyIntent({ paymentId: session.paymentId });
}

async function statusOf({ id }: CreatedSession): Promise<string | undefined> {
  return (await services.db.rows<{ status: string }>("select status from sessions where id = $1", [id]))[0]?.status;
}

/** What the merchant was told of the payment. */
function deliveriesOf(paymentId: string): string[] {
  const bodies = (receiver?.received ?? []).map(({ body }) => JSON.parse(body.toString()));
  return bodies.filter((body) => body.payment_id === paymentId).map((body) => `${body.type} ${body.status}`);
}

/** The durable consumer: what it was offered a second time, and what it has not settled. */
async function follower(name: (typeof followers)[number]): Promise<{ again: number; open: number }> {
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

interface TcpProxy {
  readonly port: number;
  open(): void;
  /** Breaks what goes over it, and every connection that is made until it is open again. */
  shut(): void;
  close(): Promise<void>;
}

/** A way to a port on loopback. */
async function startProxy(target: number): Promise<TcpProxy> {
  let isOpen = true;
  const sockets = new Set<Socket>();
  const watched = (socket: Socket, other: () => Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => {
      sockets.delete(socket);
      other().destroy();
    });
  };
  const server = createServer((near) => {
    if (!isOpen) return void near.destroy();
    const far = connect(target, "127.0.0.1");
    watched(near, () => far);
    watched(far, () => near);
    near.pipe(far).pipe(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert(typeof address === "object" && address !== null);
  const shut = () => {
    isOpen = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    open: () => {
      isOpen = true;
    },
    shut,
    close: async () => {
      shut();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

test.run();
