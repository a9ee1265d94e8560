// Gives events their positions, in the order of their streams: an event waits until every event before it in its stream
// has been consumed, by whichever replica.
import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "#platform/database/database.ts";
import { streamManager } from "#platform/events/connection.ts";
import type { EventBus } from "#platform/events/event-bus.ts";
import type { Consumer } from "#platform/events/event-consumer.ts";
import { streamName } from "#platform/events/streams.ts";
import type { JobContext, Wake } from "#platform/process/job.ts";
import { type ConsumedUntil, hasUnpositioned, placedMax, positionEvents } from "../store/event-feed.ts";

// A fan-out wakes the job of its own replica; this finds the events of a replica that is gone.
const everyMs = 1_000;
// Between two rounds: planning one on all partitions costs as much as positions for a hundred events.
const roundMs = 250;

const brokerMs = 1_000;

type Followed = Pick<Consumer, "source" | "name">;

interface PositionDeps {
  readonly db: Database;
  readonly bus: Pick<EventBus, "connection" | "namespace">;
  readonly consumers: readonly Followed[];
  readonly wake: Wake;
}

export function positionEventsJob({ db, bus, consumers, wake }: PositionDeps): JobContext {
  const runOnce = async () => {
    if (!(await hasUnpositioned(db))) return false;
    // Before the events are read: everything up to here is committed.
    const consumed = await Promise.all(consumers.map((consumer) => findConsumed(bus, consumer)));
    if ((await positionEvents(db, consumed)) < placedMax) await pause(roundMs);
    return true;
  };
  return { name: "position-events", everyMs, runOnce, wake };
}

/** Position 0 while the broker does not answer. */
async function findConsumed(bus: PositionDeps["bus"], { source, name }: Followed): Promise<ConsumedUntil> {
  const { connection, namespace } = bus;
  const manager = connection && (await streamManager(connection, brokerMs).catch(() => undefined));
  const info = await manager?.consumers.info(streamName(namespace, source), name).catch(() => undefined);
  const { stream_seq: seq = 0 } = (info?.num_ack_pending ? info.ack_floor : info?.delivered) ?? {};
  return { consumer: `${source}/${name}`, seq };
}
