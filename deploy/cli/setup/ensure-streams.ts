// Creates and updates the broker's streams and durable consumers, idempotently.
import { type Broker, connectBroker, streamManager, unlessMissing } from "#platform/events/connection.ts";
import { ensureConsumers, StreamRefused } from "#platform/events/consumers.ts";
import { consumersOf, type StreamSize, streamConfig, streamName } from "#platform/events/streams.ts";
import type { JetStreamManager, StreamConfig } from "#platform/values/nats.ts";
import { type Source, sources } from "../../../services/services.ts";

/**
 * Creates missing streams and durable consumers and updates the others.
 * @param ackWaitSeconds of the consumers
 * @param only sources to update; default all
 * @param remake consumers to delete, as `payments/webhook-fan-out`; this release's are created again from the start
 * @throws StreamRefused when that would lose events or safety; nothing is changed then
 */
export async function ensureStreams(
  options: StreamSize & {
    broker: Broker;
    namespace: string;
    ackWaitSeconds?: number;
    only?: readonly Source[];
    remake?: readonly string[];
  },
): Promise<void> {
  const connection = await connectBroker(options.broker, { name: "migrate", timeout: 5_000 });
  try {
    const manager = await streamManager(connection);
    for (const source of options.only ?? sources) {
      await ensureStream(manager, streamConfig(options.namespace, source, options));
      for (const name of options.remake ?? []) {
        const [of, consumer = ""] = name.split("/");
        if (of === source)
          await deleteConsumer(manager, { source, consumer, stream: streamName(options.namespace, of) });
      }
      await ensureConsumers(manager, { ...options, source, mayRemove: true });
    }
  } finally {
    await connection.close();
  }
}

/** @throws StreamRefused for a name that is of neither this release nor an earlier one */
async function deleteConsumer(
  manager: JetStreamManager,
  { source, consumer, stream }: { source: Source; consumer: string; stream: string },
): Promise<void> {
  const isDeleted = await unlessMissing(manager.consumers.delete(stream, consumer));
  if (isDeleted || consumersOf(source).some(({ name }) => name === consumer)) return;
  throw new StreamRefused(`stream ${stream} has no consumer ${consumer}`);
}

async function ensureStream(manager: JetStreamManager, wanted: WantedStream): Promise<void> {
  const known = await unlessMissing(manager.streams.info(wanted.name));
  if (!known) return void (await manager.streams.add(wanted));
  const lost = lossesOf(known.config, wanted);
  if (lost.length > 0) throw new StreamRefused(`stream ${wanted.name} is left as it is: ${lost.join("; ")}`);
  await manager.streams.update(wanted.name, { ...wanted, ...keptLimits(known.config, wanted) });
}

type WantedStream = Pick<StreamConfig, "name" | "subjects" | "retention" | "storage" | "num_replicas" | Limit> &
  Partial<StreamConfig>;

/** Limits that may be larger than wanted. */
const limits = ["max_age", "max_bytes", "max_msg_size", "duplicate_window"] as const;
type Limit = (typeof limits)[number];

/** Losses that the change would cause, in words; empty if none. */
function lossesOf(known: StreamConfig, wanted: WantedStream): string[] {
  const dropped = known.subjects.filter((subject) => !wanted.subjects.includes(subject));
  const foreign = (["mirror", "sources", "republish", "sealed"] as const).filter((field) => known[field]);
  return [
    ...(foreign.length === 0 ? [] : [`it has ${foreign.join(", ")}, which nothing of ours sets`]),
    ...(known.storage === wanted.storage
      ? []
      : [`its storage is ${known.storage}, this release wants ${wanted.storage}`]),
    ...(known.retention === wanted.retention
      ? []
      : [`its retention is ${known.retention}, this release wants ${wanted.retention}`]),
    ...(dropped.length === 0 ? [] : [`it would no longer keep ${dropped.join(", ")}`]),
    ...(known.num_replicas <= wanted.num_replicas
      ? []
      : [`it has ${known.num_replicas} copies and NATS_REPLICAS asks for ${wanted.num_replicas}`]),
  ];
}

/** Limits that stay because they are already wider (0 or less is unlimited). */
function keptLimits(known: StreamConfig, wanted: WantedStream): Partial<Record<Limit, number>> {
  const isWider = (limit: Limit) => known[limit] <= 0 || known[limit] > wanted[limit];
  return Object.fromEntries(limits.filter(isWider).map((limit) => [limit, known[limit]]));
}
