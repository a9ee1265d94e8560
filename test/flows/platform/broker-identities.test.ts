// Rights of each identity at a stack's broker, tried with the processes' keys, and the rejection of forged events. The
// tables are written here and not taken from the code that makes the broker's configuration.
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { type Broker, connectBroker, streamManager } from "#platform/events/connection.ts";
import { nkeyFile } from "#platform/secrets/nkey.ts";
import { newId } from "#platform/values/id.ts";
import { type ConsumerConfig, headers, type NatsConnection, type StreamConfig } from "#platform/values/nats.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { BrokerIdentity } from "../../../deploy/cli/setup/broker-rights.ts";
import { newNkey } from "../../../deploy/cli/setup/identities.ts";
import type { StackInfo } from "../../../deploy/local/stack-file.ts";
import { eventually } from "../../harness/eventually.ts";
import { freshMerchant } from "../../harness/merchant.ts";
import { payInFrame } from "../../harness/pay.ts";
import { startReceiver } from "../../harness/receiver.ts";
import { sharedStack } from "../../harness/stack.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("broker identities");

const receiver = fixture(test, async () => await startReceiver((await sharedStack()).tls));

const identities: BrokerIdentity[] = ["checkout", "payments", "merchant", "webhook", "gateway", "migrate"];
const sources = ["checkout", "payments", "merchant", "webhook"] as const;

/** Events that each identity may subscribe to. */
const subscriptions: Readonly<Record<BrokerIdentity, readonly string[]>> = {
  checkout: ["checkout.risk_rule.>"],
  payments: ["merchant.>"],
  merchant: [],
  webhook: ["webhook.endpoint.>"],
  gateway: ["merchant.api_key.>", "merchant.merchant.>"],
  migrate: [],
};
/** The durable consumers that each identity may pull from and acknowledge. */
const pulls: Readonly<Record<BrokerIdentity, readonly string[]>> = {
  checkout: ["payments.checkout-payments"],
  payments: [],
  merchant: [
    "merchant.merchant-audit",
    "webhook.merchant-audit",
    "payments.merchant-audit",
    "payments.merchant-audit-disputes",
    "payments.merchant-audit-fees",
    "payments.merchant-audit-operations",
    "payments.merchant-audit-replays",
    "checkout.merchant-audit-replays",
    "webhook.merchant-audit-replays",
    "checkout.merchant-audit",
    "checkout.merchant-audit-risk",
  ],
  webhook: ["payments.webhook-fan-out"],
  gateway: [],
  migrate: [],
};
const everyConsumer = [...new Set(Object.values(pulls).flat())];
/** Filter of each consumer. Only a source creates the consumers of its stream. */
const filters: Readonly<Record<string, string>> = {
  "payments.checkout-payments": "payment.>",
  "payments.webhook-fan-out": "payment.>",
  "merchant.merchant-audit": ">",
  "webhook.merchant-audit": "endpoint.>",
  "payments.merchant-audit": "refund.requested",
  "payments.merchant-audit-disputes": "dispute_response.>",
  "payments.merchant-audit-fees": "fee_schedule.>",
  "payments.merchant-audit-operations": "operation.>",
  "payments.merchant-audit-replays": "events.>",
  "checkout.merchant-audit-replays": "events.>",
  "webhook.merchant-audit-replays": "events.>",
  "checkout.merchant-audit": "session.expiry_requested",
  "checkout.merchant-audit-risk": "risk_rule.>",
  "checkout.merchant-audit-links": "payment_link.>",
};

function brokerFor(info: StackInfo, identity: BrokerIdentity): Broker {
  return { url: info.nats, nkey: nkeyFile.parse(info.broker_files.nkeys[identity]) };
}

/** A connection, and the subjects that the broker refused to publish. */
async function connectAs(broker: Broker, name: string): Promise<{ nats: NatsConnection; refused: string[] }> {
  const nats = await connectBroker(broker, { name, reconnect: false, timeout: 5_000 });
  const refused: string[] = [];
  void (async () => {
    for await (const { permissionContext: refusal } of nats.status()) {
      if (refusal?.operation === "publish") refused.push(refusal.subject);
    }
  })();
  return { nats, refused };
}

test("refuses connections without a known key, also with a password", async () => {
  const info = await sharedStack();
  const { seed } = newNkey();
  const stranger = { seed: new TextEncoder().encode(seed) };
  for (const broker of [
    { url: info.nats },
    { url: info.nats, nkey: stranger },
    { url: info.nats.replace("//", "//payments:payments@") },
    { url: info.nats.replace("//", "//token@") },
  ]) {
    await assert.rejects(connectBroker(broker, { name: "stranger", reconnect: false }), {
      code: "AUTHORIZATION_VIOLATION",
    });
  }
});

for (const identity of identities) {
  test(`${identity} can publish only its own subjects, and can create or change no other stream`, async () => {
    const { nats, refused } = await connectAs(brokerFor(await sharedStack(), identity), identity);
    const mustNot = [
      ...sources
        .filter((source) => source !== identity)
        .map((source) => `tollbooth.events.${source}.payment.succeeded`),
      ...(identity === "gateway" ? [] : ["tollbooth.gateway.tokens"]),
      "elsewhere.events.payments.payment.succeeded",
      "$SYS.REQ.SERVER.PING",
      "_INBOX_payments.guess",
      ...sources.flatMap((source) =>
        [
          ...["DELETE", "PURGE", "MSG.DELETE", "SNAPSHOT", "RESTORE"],
          // A source may read its own events and create its stream.
          ...(source === identity ? [] : ["MSG.GET"]),
          ...(identity === "migrate" ? [] : ["UPDATE"]),
          ...(identity === "migrate" || identity === source ? [] : ["CREATE"]),
        ].map((act) => `$JS.API.STREAM.${act}.tollbooth-${source}`),
      ),
      "$JS.API.STREAM.CREATE.copy",
      ...everyConsumer.flatMap((consumer) => {
        const [source, name] = consumer.split(".");
        const may = pulls[identity].includes(consumer);
        const create = `$JS.API.CONSUMER.CREATE.tollbooth-${source}.${name}.tollbooth.events.${source}.${filters[consumer]}`;
        return [
          ...["PAUSE", "RESET", "UNPIN"].map((act) => `$JS.API.CONSUMER.${act}.tollbooth-${source}.${name}`),
          ...(identity === "migrate" ? [] : [`$JS.API.CONSUMER.DELETE.tollbooth-${source}.${name}`]),
          ...(identity === "migrate" || identity === source ? [] : [create]),
          ...(may
            ? []
            : [
                `$JS.API.CONSUMER.MSG.NEXT.tollbooth-${source}.${name}`,
                `$JS.ACK.tollbooth-${source}.${name}.1.1.1.1.0`,
              ]),
        ];
      }),
      ...sources.flatMap((source) => [
        `$JS.API.CONSUMER.CREATE.tollbooth-${source}`,
        `$JS.API.CONSUMER.CREATE.tollbooth-${source}.thief`,
        `$JS.API.CONSUMER.CREATE.tollbooth-${source}.thief.tollbooth.events.${source}.>`,
        `$JS.API.CONSUMER.DURABLE.CREATE.tollbooth-${source}.thief`,
        ...(identity === "migrate" ? [] : [`$JS.API.CONSUMER.DELETE.tollbooth-${source}.thief`]),
      ]),
    ];
    // By the broker's own subject, and by the subject that identities use.
    const either = mustNot.flatMap((subject) => [subject, subject.replace("$JS.API.", () => "streams.")]);
    const all = [...new Set(either), "$JS.API.INFO", "streams.INFO"];
    for (const subject of all) nats.publish(subject, "{}");
    await nats.flush();
    await eventually("every refusal", () => refused.length >= all.length);
    const passed = all.filter((subject) => !refused.includes(subject));
    assert.deepEqual(passed, []);
    await nats.close();
  });

  test(`${identity} can subscribe only to the events it needs, and to no other's answers`, async () => {
    const { nats } = await connectAs(brokerFor(await sharedStack(), identity), identity);
    const mustNot = [
      ">",
      "tollbooth.>",
      "tollbooth.events.>",
      ...sources
        .map((source) => `tollbooth.events.${source}.>`)
        .filter((subject) => !subscriptions[identity].some((own) => `tollbooth.events.${own}` === subject)),
      ...(identity === "gateway" ? [] : ["tollbooth.gateway.tokens"]),
      "_INBOX.>",
      ...identities.filter((other) => other !== identity).map((other) => `_INBOX_${other}.>`),
      "$JS.>",
      "$SYS.>",
    ];
    const may = [`_INBOX_${identity}.>`, ...subscriptions[identity].map((own) => `tollbooth.events.${own}`)];
    const outcome = async (subject: string) => {
      const error = await new Promise<Error | undefined>((resolve) => {
        nats.subscribe(subject, { callback: (refusal) => refusal && resolve(refusal) });
        void nats.flush().then(() => resolve(undefined));
      });
      return error === undefined ? "accepted" : "refused";
    };
    const outcomes = new Map<string, string>();
    for (const subject of [...mustNot, ...may]) outcomes.set(subject, await outcome(subject));
    const wanted = [...mustNot.map((subject) => [subject, "refused"]), ...may.map((subject) => [subject, "accepted"])];
    assert.deepEqual([...outcomes], wanted);
    await nats.close();
  });
}

test("no identity can make the broker write elsewhere by a reply subject", async () => {
  const info = await sharedStack();
  const marker = `intruder-${Date.now()}`;
  const listening = await Promise.all(
    identities.map(async (identity) => connectAs(brokerFor(info, identity), identity)),
  );
  const received: string[] = [];
  const elsewhere = (identity: BrokerIdentity) => [
    ...sources
      .filter((source) => source !== identity)
      .map((source) => `tollbooth.events.${source}.${marker}.${identity}`),
    ...identities.filter((other) => other !== identity).map((other) => `_INBOX_${other}.${marker}`),
    ...(identity === "gateway" ? [] : ["tollbooth.gateway.tokens"]),
  ];
  identities.forEach((identity, i) => {
    const subjects = [`_INBOX_${identity}.${marker}`, ...(identity === "gateway" ? ["tollbooth.gateway.tokens"] : [])];
    for (const subject of subjects) {
      listening[i]?.nats.subscribe(subject, {
        callback: (_, message) => {
          const text = message.string();
          if (subject.endsWith(marker) || text.includes("stream") || text.includes(marker))
            received.push(`${identity}: ${text}`);
        },
      });
    }
  });
  await Promise.all(listening.map(({ nats }) => nats.flush()));
  for (const [i, identity] of identities.entries()) {
    const nats = listening[i]?.nats ?? assert.fail();
    for (const reply of elsewhere(identity)) {
      for (const subject of requestSubjects(identity, marker))
        nats.publish(subject, '{"no_wait":true,"batch":1}', { reply });
      const subject = sources.some((source) => source === identity)
        ? `tollbooth.events.${identity}.${marker}`
        : undefined;
      // It may request an acknowledgement from its own stream.
      if (subject) nats.publish(subject, marker, { reply });
    }
    await nats.flush();
  }
  const found: string[] = [];
  for (const [i, identity] of identities.entries()) {
    const nats = listening[i]?.nats ?? assert.fail();
    if (!sources.some((source) => source === identity)) continue;
    const own = `tollbooth.events.${identity}.${marker}`;
    const answer = await nats.request(`streams.STREAM.INFO.tollbooth-${identity}`, '{"subjects_filter":">"}');
    const subjects = Object.keys((answer.json() as { state: { subjects: object } }).state.subjects);
    assert.ok(subjects.includes(own), `${identity} has published into its own stream`);
    found.push(...subjects.filter((subject) => subject.includes(marker) && subject !== own));
  }
  await Promise.all(listening.map(({ nats }) => nats.flush()));
  assert.deepEqual({ found, received }, { found: [], received: [] });
  await Promise.all(listening.map(({ nats }) => nats.close()));
});

/** Requests that an identity may send to the broker. */
function requestSubjects(identity: BrokerIdentity, marker: string): string[] {
  if (identity === "gateway") return [];
  if (identity === "migrate") return sources.map((source) => `streams.STREAM.INFO.tollbooth-${source}`);
  return [
    `streams.STREAM.INFO.tollbooth-${identity}`,
    `streams.STREAM.MSG.GET.tollbooth-${identity}`,
    `streams.CONSUMER.LIST.tollbooth-${identity}`,
    ...pulls[identity].flatMap((consumer) => {
      const [source, name] = consumer.split(".");
      return [
        `streams.CONSUMER.INFO.tollbooth-${source}.${name}`,
        `streams.CONSUMER.MSG.NEXT.tollbooth-${source}.${name}`,
        `$JS.ACK.tollbooth-${source}.${name}.1.1.1.1.${marker}`,
      ];
    }),
  ];
}

test("a source cannot create its stream with another configuration, and repeating the same one changes nothing", async () => {
  const { nats } = await connectAs(brokerFor(await sharedStack(), "payments"), "payments");
  const manager = await streamManager(nats);
  const read = async () => (await manager.streams.info("tollbooth-payments")).config;
  const config = Object.freeze(await read());
  const others: Partial<StreamConfig>[] = [
    { deny_delete: false, deny_purge: false },
    { max_age: 1_000_000_000, duplicate_window: 1_000_000_000 },
    { max_msgs: 1 },
    { subjects: ["tollbooth.events.payments.>", "tollbooth.events.merchant.>"] },
    { republish: { src: ">", dest: "tollbooth.events.merchant.>" } },
  ];
  for (const other of others)
    await assert.rejects(manager.streams.add({ ...config, ...other }), /already in use|overlap/, JSON.stringify(other));
  await manager.streams.add({ ...config });
  assert.deepEqual(await read(), config);
  await nats.close();
});

test("a changed consumer is restored by its source or by migrate", async () => {
  const info = await sharedStack();
  const { nats } = await connectAs(brokerFor(info, "webhook"), "webhook");
  const { consumers } = await streamManager(nats);
  const [stream, name] = ["tollbooth-webhook", "merchant-audit-replays"];
  const read = async () => {
    const { name: _, metadata, ...config } = (await consumers.info(stream, name)).config as ConsumerConfig;
    return config;
  };
  const config = Object.freeze(await read());
  for (const other of [{ max_deliver: 1 }, { headers_only: true }, { ack_wait: 3_600_000_000_000 }, { max_batch: 1 }]) {
    await consumers.update(stream, name, other);
    assert.notDeepEqual(await read(), config, Object.keys(other).join());
    await eventually(`${Object.keys(other)} to be restored`, async () => isDeepStrictEqual(await read(), config));
  }
  await nats.close();
});

/** Publishes a forged success of a session with payments' identity, once with each MAC; then the session is paid. */
test("an event without its source's MAC completes no session, sends no webhook and is counted", async () => {
  const [macs, why] = [
    ["", Buffer.alloc(32).toString("base64url")],
    ["no_mac", "wrong_mac"],
  ];
  const info = await sharedStack();
  const merchant = await freshMerchant(info);
  const endpoint = { url: receiver.url, event_types: ["payment.succeeded"] };
  (await merchant.api.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
  const session = (await merchant.api.post("/v1/checkout-sessions", { amount: 700, currency: "EUR" })).expect(201);
  const read = async () => (await merchant.api.get(`/v1/checkout-sessions/${session.text("id")}`)).expect(200);
  const refused = () => Promise.all((["webhook", "checkout"] as const).map((each) => refusedEvents(info, each, why)));
  const before = await refused();
  const forged = newId("payment");
  const event = create(EventSchema, {
    id: newId("event"),
    type: "payment.succeeded",
    source: "payments",
    merchantId: merchant.id,
    environment: Environment.SANDBOX,
    objectId: forged,
    status: "succeeded",
    occurredAt: timestampNow(),
    attributes: {
      session_id: session.text("id"),
      outcome: "succeeded",
      version: "9",
      receipt_url: "https://thief.example",
    },
  });
  const subject = "tollbooth.events.payments.payment.succeeded";
  const body = toBinary(EventSchema, event);
  const { nats } = await connectAs(brokerFor(info, "payments"), "payments");
  for (const mac of macs) {
    const header = headers();
    if (mac) header.set("Tollbooth-Mac", mac);
    await nats.jetstream().publish(subject, body, { headers: header });
  }
  await nats.close();
  const wanted = before.map((count) => count + macs.length);
  await eventually("both consumers to reject all", async () =>
    (await refused()).every((count, i) => count >= (wanted[i] ?? 0)),
  );
  const unmoved = await read();
  assert.deepEqual([unmoved.text("status"), unmoved.at("receipt_url")], ["open", session.at("receipt_url")]);
  // Later events are applied.
  await payInFrame(session.text("render.frame_url"));
  await eventually("the session to be completed by payments' own event", async () => {
    return (await read()).text("status") === "completed";
  });
  const paymentId = (await read()).text("payment_id");
  await receiver.waitFor(({ body: webhookBody }) => webhookBody.includes(paymentId));
  assert.equal(receiver.received.filter(({ body: webhookBody }) => webhookBody.includes(forged)).length, 0);
  assert.deepEqual(await refused(), wanted);
});

async function refusedEvents(
  info: StackInfo,
  process: "checkout" | "webhook",
  why: readonly string[],
): Promise<number> {
  const text = await (await fetch(`${info.admin[process]}/metrics`)).text();
  const counts = [...text.matchAll(/^tollbooth_events_refused_total\{source="payments",why="(\w+)"\} (\d+)/gm)];
  const wanted = counts.filter(([, each = ""]) => why.includes(each));
  assert.equal(wanted.length, why.length, "the counter exists from zero");
  return wanted.reduce((sum, [, , count]) => sum + Number(count), 0);
}

test.run();
