// Durable consumers of a source's stream, maintained by migrate and by the source. Consuming services create none: the
// delivery target is in the request's body, which no permission checks.
import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  type JetStreamManager,
  NatsError,
  nanos,
  ReplayPolicy,
} from "#platform/values/nats.ts";
import type { Source } from "../../services.ts";
import { unlessMissing } from "./connection.ts";
import { consumersOf, eventSubject, streamName } from "./streams.ts";

// Unacknowledged events of a crashed or disconnected process are redelivered after this. A working process sends
// progress.
const ackWaitSecondsDefault = 10;
// The broker stops redelivering after this many tries; from the third on the log has an error.
const deliverMax = 1_000;
const ackPendingMax = 2_000;
// The server's default for waiting pulls.
const waitingMax = 512;
// Bounds of a pull, above what our client requests (event-consumer.ts), so pulls of a lost process end soon.
const pullBatchMax = 1_024;
const pullMsMax = 10_000;

/** The complete configuration of a durable consumer; any other field is not ours. */
export function consumerConfig(
  namespace: string,
  of: { readonly name: string; readonly source: Source; readonly types: string },
  ackWaitSeconds = ackWaitSecondsDefault,
) {
  return {
    durable_name: of.name,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(1_000 * ackWaitSeconds),
    deliver_policy: DeliverPolicy.All,
    filter_subject: eventSubject(namespace, of.source, of.types),
    max_deliver: deliverMax,
    max_ack_pending: ackPendingMax,
    max_waiting: waitingMax,
    max_batch: pullBatchMax,
    max_expires: nanos(pullMsMax),
    replay_policy: ReplayPolicy.Instant,
    num_replicas: 0, // as many as its stream
  };
}

type DesiredConfig = ReturnType<typeof consumerConfig>;

/** Fields that differ from the wanted configuration. Servers add a name and metadata. */
function differingFields(known: ConsumerConfig, wanted: DesiredConfig): string[] {
  const own = new Set(["name", "metadata"]);
  const isSet = (value: unknown) =>
    value !== undefined && value !== null && value !== false && value !== "" && value !== 0;
  const other = Object.entries(known).filter(([field, value]) => !own.has(field) && !(field in wanted) && isSet(value));
  const changed = Object.entries(wanted).filter(([field, value]) => Reflect.get(known, field) !== value);
  return [...changed, ...other].map(([field]) => field);
}

interface EnsureOptions {
  readonly namespace: string;
  readonly source: Source;
  readonly ackWaitSeconds?: number | undefined;
  /**
   * Deletes and recreates a consumer that cannot be changed: its service gets the whole stream again and skips events
   * in its inbox.
   */
  readonly mayRemove?: boolean;
}

/**
 * Creates missing consumers and changes those that differ.
 * @returns a line for each that differed
 * @throws StreamRefused after doing everything possible, with the rest
 */
export async function ensureConsumers(
  manager: JetStreamManager,
  { namespace, source, ackWaitSeconds, mayRemove = false }: EnsureOptions,
): Promise<string[]> {
  const stream = streamName(namespace, source);
  const [found, refused]: [string[], string[]] = [[], []];
  for (const consumer of consumersOf(source)) {
    const wanted = consumerConfig(namespace, consumer, ackWaitSeconds);
    const known = await unlessMissing(manager.consumers.info(stream, consumer.name));
    if (!known) {
      await manager.consumers.add(stream, wanted);
      continue;
    }
    const stray = differingFields(known.config, wanted);
    if (stray.length === 0) continue;
    found.push(`${consumer.name} of ${stream}: ${stray.join(", ")}`);
    refused.push(...(await repair(manager, known, wanted, mayRemove)));
  }
  if (refused.length > 0) throw new StreamRefused(refused.join("; "));
  return found;
}

/** @returns why it was not possible, if so */
async function repair(
  manager: JetStreamManager,
  known: ConsumerInfo,
  wanted: DesiredConfig,
  mayRemove: boolean,
): Promise<string[]> {
  const { stream_name: stream, config } = known;
  if (config.filter_subject !== wanted.filter_subject) {
    const difference = `its filter is ${config.filter_subject}, this release wants ${wanted.filter_subject}`;
    const instead = "a consumer of another name keeps what was not acknowledged yet";
    return [`consumer ${known.name} of ${stream} is left as it is: ${difference}; ${instead}`];
  }
  try {
    // The client merges the update into the current configuration, so extra fields must be unset by name.
    const gone = Object.fromEntries(differingFields(config, wanted).map((field) => [field, undefined]));
    const { config: made } = await manager.consumers.update(stream, known.name, { ...gone, ...wanted });
    if (differingFields(made, wanted).length === 0) return [];
  } catch (error) {
    if (!(error instanceof NatsError) || error.api_error === undefined) throw error;
  }
  if (!mayRemove) return [`consumer ${known.name} of ${stream} cannot be changed; run migrate`];
  await manager.consumers.delete(stream, known.name);
  await manager.consumers.add(stream, wanted);
  return [];
}

/** A change that an operator must decide on. Nothing was changed. */
export class StreamRefused extends Error {
  override name = "StreamRefused";
}
