// The durable consumers of a source's stream, kept what they should be by migrate and by the source itself. Who follows
// makes and changes none: what a consumer delivers, and where to, is in its body, which no permission reads.
import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  type JetStreamManager,
  NatsError,
  nanos,
  ReplayPolicy,
} from "nats";
import type { Source } from "../../services.ts";
import { unlessMissing } from "./connection.ts";
import { consumersOf, eventSubject, streamName } from "./streams.ts";

// What a process held that crashed, or whose connection vanished, comes back after it; one that works says so
// meanwhile.
export const ackWaitSecondsDefault = 10;
// After this many tries the broker stops offering an event; it is logged as poison from the third on.
const deliverMax = 1_000;
const ackPendingMax = 2_000;
// As servers set it, of pulls that wait.
const waitingMax = 512;
// What is pulled at once, and for how long a pull may wait: beyond what our client asks (event-consumer.ts), so that
// those of somebody who has left are over soon.
const pullBatchMax = 1_024;
const pullMsMax = 10_000;

/** What a durable consumer is on the broker, whole: whatever else stands there is not ours. */
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

/** Names of what stands otherwise than it should. Servers add a name and notes of their own. */
export function strayFields(known: ConsumerConfig, wanted: DesiredConfig): string[] {
  const own = new Set(["name", "metadata"]);
  const isSet = (value: unknown) =>
    value !== undefined && value !== null && value !== false && value !== "" && value !== 0;
  const other = Object.entries(known).filter(([field, value]) => !own.has(field) && !(field in wanted) && isSet(value));
  const changed = Object.entries(wanted).filter(([field, value]) => Reflect.get(known, field) !== value);
  return [...changed, ...other].map(([field]) => field);
}

/** Which stream's, and how. */
interface EnsureOptions {
  readonly namespace: string;
  readonly source: Source;
  readonly ackWaitSeconds?: number | undefined;
  /**
   * Takes away what cannot be changed, and makes it again: whoever follows is offered the whole stream once more, and
   * knows what it has taken in.
   */
  readonly mayRemove?: boolean;
  /** `<source>/<name>` of those that are made again whatever they look like: what is held or delayed is let go. */
  readonly remake?: readonly string[];
}

/**
 * Makes those that are missing, and changes those that stand otherwise.
 * @returns a line for each that was not right
 * @throws StreamRefused when all was done that could be, with what could not
 */
export async function ensureConsumers(
  manager: JetStreamManager,
  { namespace, source, ackWaitSeconds, mayRemove = false, remake = [] }: EnsureOptions,
): Promise<string[]> {
  const stream = streamName(namespace, source);
  const [found, refused]: [string[], string[]] = [[], []];
  for (const consumer of consumersOf(source)) {
    const wanted = consumerConfig(namespace, consumer, ackWaitSeconds);
    if (remake.includes(`${source}/${consumer.name}`))
      await unlessMissing(manager.consumers.delete(stream, consumer.name));
    const known = await unlessMissing(manager.consumers.info(stream, consumer.name));
    if (!known) {
      await manager.consumers.add(stream, wanted);
      continue;
    }
    const stray = strayFields(known.config, wanted);
    if (stray.length === 0) continue;
    found.push(`${consumer.name} of ${stream}: ${stray.join(", ")}`);
    refused.push(...(await repair(manager, known, wanted, mayRemove)));
  }
  if (refused.length > 0) throw new StreamRefused(refused.join("; "));
  return found;
}

/** @returns why it could not be, if so */
async function repair(
  manager: JetStreamManager,
  known: ConsumerInfo,
  wanted: DesiredConfig,
  mayRemove: boolean,
): Promise<string[]> {
  const { stream_name: stream, config } = known;
  if (config.filter_subject !== wanted.filter_subject) {
    const difference = `it hears ${config.filter_subject}, this release wants ${wanted.filter_subject}`;
    const instead = "a consumer of another name keeps what was not acknowledged yet";
    return [`consumer ${known.name} of ${stream} is left as it is: ${difference}; ${instead}`];
  }
  try {
    // The client adds what stands to what is said, so what is too much has to be taken out by name.
    const gone = Object.fromEntries(strayFields(config, wanted).map((field) => [field, undefined]));
    const { config: made } = await manager.consumers.update(stream, known.name, { ...gone, ...wanted });
    if (strayFields(made, wanted).length === 0) return [];
  } catch (error) {
    if (!(error instanceof NatsError) || error.api_error === undefined) throw error;
  }
  if (!mayRemove) return [`consumer ${known.name} of ${stream} cannot be changed; run migrate`];
  await manager.consumers.delete(stream, known.name);
  await manager.consumers.add(stream, wanted);
  return [];
}

/** A change that an operator has to decide on. Nothing was changed. */
export class StreamRefused extends Error {
  override name = "StreamRefused";
}
