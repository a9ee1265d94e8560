// The broker connection under network, broker and clock faults: a NATS server behind a faulty link.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { EventBus } from "#platform/events/event-bus.ts";
import { eventSubject } from "#platform/events/streams.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { ensureStreams } from "../../../deploy/cli/setup/ensure-streams.ts";
import { freePort } from "../../../deploy/local/free-port.ts";
import { type NatsServer, startNats } from "../../../deploy/local/nats.ts";
import { findNatsServer } from "../../../deploy/local/nats-binary.ts";
import { type BadLink, openLink } from "../../chaos/link.ts";
import { eventually } from "../../harness/eventually.ts";
import { makeConsumer } from "../../harness/payments/test-consumer.ts";
import { suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";

const test = suite("broker link", { timeoutMs: 60_000 });
const namespace = `t${randomBytes(4).toString("hex")}`;
const log = createLog("test", "fatal");
const realNow = Date.now;
let home: string;
let server: NatsServer;
let link: BadLink;

test.before(async () => {
  home = await tempDir("broker-link");
  const { path: program } = await findNatsServer();
  server = await startNats({ program, storeDir: join(home, "nats"), port: await freePort(), keepsParentAlive: false });
  link = await openLink(Number(new URL(server.url).port));
  await ensureStreams({ broker: { url: server.url }, namespace });
});
test.after(async () => {
  Date.now = realNow;
  await link.close();
  await server.stop();
  await rm(home, { recursive: true, force: true });
});

/** A bus behind the link, and the ids that its consumer has handled. @param work runs before on each batch */
async function consuming(
  name: string,
  work: (ids: readonly string[]) => Promise<void> = async () => {},
): Promise<{ bus: EventBus; consumed: Set<string> }> {
  const consumed = new Set<string>();
  const bus = new EventBus({
    broker: { url: `nats://127.0.0.1:${link.port}` },
    namespace,
    name: "test",
    log,
  });
  const of = { name, source: "payments", types: `${name}.>` } as const;
  await makeConsumer(server.url, namespace, of, 1);
  bus.consume({
    ...of,
    handle: async (events) => {
      await work(events.map(({ id }) => id));
      for (const { id } of events) consumed.add(id);
    },
  });
  await eventually("the bus to be connected", () => bus.connected);
  return { bus, consumed };
}

async function announce(bus: EventBus, type: string, id: string): Promise<void> {
  const body = toBinary(EventSchema, create(EventSchema, { id, type, source: "payments" }));
  await eventually(`${id} to be published`, async () => {
    return await bus.publish(eventSubject(namespace, "payments", type), id, body).then(
      () => true,
      () => false,
    );
  });
}

test("a broken connection is replaced immediately and events continue, also after the clock was set back", async () => {
  Date.now = () => realNow() + 3_600_000;
  const { bus, consumed } = await consuming("clock");
  await announce(bus, "clock.one", "evt_1");
  await eventually("the first event", () => consumed.has("evt_1"));
  Date.now = realNow;
  assert.ok(link.cut() > 0);
  await eventually("the broken connection to be noticed", () => !bus.isUpToDate);
  await announce(bus, "clock.two", "evt_2");
  await eventually("the second event", () => consumed.has("evt_2"), { limitMs: 15_000 });
  await bus.close();
});

test("lost pull requests are repeated, also after the clock was set back", async () => {
  Date.now = () => realNow() + 3_600_000;
  const { bus, consumed } = await consuming("hole");
  await announce(bus, "hole.one", "evt_3");
  await eventually("the first event", () => consumed.has("evt_3"));
  Date.now = realNow;
  const over = link.blackHole(1_500);
  await over;
  await announce(bus, "hole.two", "evt_4");
  await eventually("the second event", () => consumed.has("evt_4"), { limitMs: 20_000 });
  await bus.close();
});

for (const [what, begin, end] of [
  ["that is stopped", () => process.kill(server.pid, "SIGSTOP"), () => process.kill(server.pid, "SIGCONT")],
  ["behind a link that swallows everything", () => void link.blackHole(4_000), () => {}],
] as const) {
  test(`a broker ${what} counts as not up to date until it answers again`, async () => {
    const { bus } = await consuming("silent");
    await eventually("the bus to receive", () => bus.isUpToDate);
    begin();
    await eventually("the silence to be noticed", () => !bus.isUpToDate, { limitMs: 3_000 });
    end();
    await eventually("the bus to receive again", () => bus.isUpToDate, { limitMs: 20_000 });
    await bus.close();
  });
}

test("an event in work for longer than the acknowledgement wait is not delivered to another replica", async () => {
  const begun: string[] = [];
  const work = async (ids: readonly string[]) => {
    begun.push(...ids);
    await new Promise((resolve) => setTimeout(resolve, 4_000)); // four times the acknowledgement wait
  };
  const replicas = [await consuming("long", work), await consuming("long", work)];
  const [{ bus }] = replicas as [(typeof replicas)[number]];
  await announce(bus, "long.one", "evt_long");
  await eventually("the event to be handled", () => replicas.some(({ consumed }) => consumed.has("evt_long")));
  assert.deepEqual(begun, ["evt_long"]);
  await Promise.all(replicas.map((replica) => replica.bus.close()));
});

test.run();
