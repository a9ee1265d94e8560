// Drills of events on their way: the outboxes, the broker and its streams, and those who take events in.
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { connectBroker, streamManager } from "#platform/events/connection.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { nkeyFile } from "#platform/secrets/nkey.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Drill, tableGone } from "./drill.ts";
import { type AlarmRig, order } from "./rig.ts";

/** Over the threshold of TollboothConsumerLag. */
const backlog = 10_500;

export const eventDrills: readonly Drill[] = [
  {
    alerts: ["TollboothBrokerAway", "TollboothOutboxLag"],
    about: "NATS hangs while merchants make sessions",
    begin: async ({ running, shop }) => {
      const broker = running.stack.pids.nats;
      if (broker === undefined) throw new Error("the stack has no broker of its own");
      process.kill(broker, "SIGSTOP");
      (await shop.post("/v1/checkout-sessions", order)).expect(201);
      return async () => process.kill(broker, "SIGCONT");
    },
  },
  {
    alerts: ["TollboothServiceAway", "TollboothEventsUntaken"],
    about: "webhook is stopped, and payments succeed",
    begin: async ({ running, paid }) => {
      await running.halt("webhook");
      await paid();
      return () => running.resume("webhook");
    },
  },
  {
    // It rings for an hour: the time that the loss was found at is made older.
    alerts: ["TollboothEventsLost"],
    about: "the broker's store is deleted",
    begin: async ({ running, sql, paid }) => {
      await paid();
      await running.halt("nats");
      await rm(storeOf(running.stack.tls.ca), { recursive: true });
      await running.resume("nats");
      return async () => {
        for (const service of ["checkout", "payments", "merchant", "webhook"])
          await sql(service, "update event_stream set lost_at = now() - interval '1 hour'");
      };
    },
  },
  {
    alerts: ["TollboothConsumerLag"],
    about: "webhook is stopped, and payments announces more than ten thousand events",
    begin: async (rig) => {
      await rig.running.halt("webhook");
      await announce(rig, { type: "payment.drilled", status: "succeeded", count: backlog });
      return () => rig.running.resume("webhook");
    },
  },
  {
    alerts: ["TollboothEventsNotTakenIn"],
    about: "the table that events become deliveries in is gone",
    begin: async ({ sql, paid, listen }) => {
      await listen();
      const end = await tableGone({ sql }, "webhook", "delivery_queue");
      await paid();
      return end;
    },
  },
  {
    alerts: ["TollboothEventsParked"],
    about: "payments announces an event whose status is malformed",
    begin: async (rig) => {
      await announce(rig, { type: "payment.succeeded", status: "Not a status", count: 1 });
      return undefined;
    },
  },
  {
    alerts: ["TollboothStreamFilling"],
    about: "an operator leaves the stream of payments a third more room than it needs",
    begin: async ({ running: { stack }, paid }) => {
      await paid();
      const nats = await connectBroker(
        { url: stack.nats, nkey: nkeyFile.parse(stack.broker_files.nkeys.migrate) },
        { name: "migrate" },
      );
      const { streams } = await streamManager(nats);
      const { config, state } = await streams.info("tollbooth-payments");
      await streams.update(config.name, { ...config, max_bytes: Math.ceil((4 / 3) * state.bytes) });
      return async () => {
        await streams.update(config.name, config);
        await nats.close();
      };
    },
  },
  {
    alerts: ["TollboothEventsRefused"],
    about: "a client with the broker identity of payments publishes an event without its MAC",
    begin: async ({ running: { stack } }) => {
      const nkey = nkeyFile.parse(stack.broker_files.nkeys.payments);
      const nats = await connectBroker({ url: stack.nats, nkey }, { name: "payments" });
      await nats.jetstream().publish("tollbooth.events.payments.payment.succeeded", Buffer.from("forged"));
      return () => nats.close();
    },
  },
];

/** On three brokers. */
export const clusterDrills: readonly Drill[] = [
  {
    alerts: ["TollboothStreamCopiesMissing"],
    about: "a broker of three hangs that no process is connected to",
    begin: async ({ brokers }) => {
      const [broker] = brokers?.otherPids() ?? [];
      if (broker === undefined) throw new Error("the rig has one broker");
      process.kill(broker, "SIGSTOP");
      return async () => process.kill(broker, "SIGCONT");
    },
  },
];

/** Where the stack's own broker keeps its streams. @param ca the file of the stack's authority */
function storeOf(ca: string): string {
  return join(dirname(dirname(ca)), "nats", "jetstream");
}

/** Events of a payment that payments itself announces, by rows of its outbox. */
async function announce(
  { sql, paid, running: { stack } }: AlarmRig,
  { type, status, count }: { type: string; status: string; count: number },
): Promise<void> {
  const objectId = await paid();
  const outbox = new Outbox({ namespace: "tollbooth", source: "payments" });
  const event = { type, status, objectId, merchantId: stack.merchant_id, environment: Environment.SANDBOX };
  const { ids, subjects, bodies } = outbox.toRows(Array.from({ length: count }, () => ({ ...event, at: new Date() })));
  await sql(
    "payments",
    "insert into outbox (event_id, subject, body) select * from unnest($1::text[], $2::text[], $3::bytea[])",
    [ids, subjects, bodies],
  );
}
