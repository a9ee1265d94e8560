// Notices that this service's database is older than what it has announced (a restore, a failover that lost commits):
// nothing new is begun until an operator ends it, since what is unknown here may have been paid. The relay publishes
// after the commit, so an event of ours in the stream that the outbox lacks is proof; where it noted the place of one
// that the outbox has, nothing is left to ask. Phases of a look: 1 read the stream on · 2 compare and write.
import { setTimeout as pause } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { StreamInfo } from "nats";
import { type Source, streamKeepDays } from "#platform/broker/streams.ts";
import type { Database, Tx } from "#platform/database/database.ts";
import type { EventBus } from "#platform/events/event-bus.ts";
import { type KnownPlaces, knownPlaces, placeOf } from "#platform/events/stream-record.ts";
import type { JobContext } from "#platform/jobs/job.ts";
import { Gauge } from "#platform/parts/metric.ts";
import { type OwnSeal, sealHeader } from "#platform/secrets/own-seal.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { clockMs } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { isOtherServer, judgeStream, type RecoveryReason, type StreamWord } from "./recovery-rule.ts";
import { type Fence, moveFence, type OwnEvent, readFence, serverOf, unknownToOutbox } from "./recovery-store.ts";

const recovering = new Gauge({
  name: "tollbooth_recovering",
  help: "1 while the service lacks what it had announced, or cannot know it, and begins nothing new; else 0.",
  labelNames: ["service"] as const,
});

export interface RecoverySources {
  readonly service: Source;
  readonly db: Database;
  readonly bus: EventBus;
  readonly seal: OwnSeal;
  readonly log: Log;
}

// A restored database is noticed this soon where processes run on; those that start look before they serve.
const everyMs = 2_000;
// A broker that is there answers at once; without it a service starts all the same.
const startMsMax = 3_000;
const startPauseMs = 20;
// What one look reads; more of it is read at once by the next.
const readMax = 2_000;
const readsAtOnce = 50;
// Told to callers: a recovery takes minutes, and none of our clients waits for that with the request in its hands.
const retryAfterMs = 30_000;
// Older events are swept from the outbox, so that one of them, sent again, would prove nothing.
const provesMs = streamKeepDays * 86_400_000;

export class Recovery {
  readonly job: JobContext;
  readonly #sources: RecoverySources;
  #why: RecoveryReason = "";
  #isLooking = false;

  private constructor(sources: RecoverySources) {
    this.#sources = sources;
    this.job = { name: "watch-recovery", everyMs, failurePauseMsMax: everyMs, runOnce: () => this.look() };
  }

  /** Looks before anything is served, for as long as a broker that is there needs to answer. */
  static async begin(sources: RecoverySources): Promise<Recovery> {
    const recovery = new Recovery(sources);
    sources.db.onUnknownServer = () => void recovery.#lookNow();
    const until = performance.now() + startMsMax;
    while (!sources.bus.answering && performance.now() < until) await pause(startPauseMs);
    while (await recovery.look());
    return recovery;
  }

  get isOn(): boolean {
    return this.#why !== "";
  }

  /** Call before anything new is written or sent. @throws Failure SERVICE_UNAVAILABLE. */
  assertOff(): void {
    if (this.isOn)
      throw new Failure("SERVICE_UNAVAILABLE", { cause: new Error(`recovering: ${this.#why}`), retryAfterMs });
  }

  /** The jobs, which do nothing while it is on: for those that send what they know. */
  pausing(jobs: readonly JobContext[]): JobContext[] {
    return jobs.map((job) => ({ ...job, runOnce: async () => !this.isOn && (await job.runOnce()) }));
  }

  /** One look. @returns true when there is more to read. */
  async look(): Promise<boolean> {
    const { db, service, bus } = this.#sources;
    const [fence, server, state] = await Promise.all([readFence(db), serverOf(db), bus.state(service)]);
    const seen = await this.#read(fence, server, state === "missing" ? undefined : state?.stream);
    const isSettled = seen.own.length === 0 && !seen.passedOver && !movedBy(fence, server, seen, []);
    const why = isSettled ? fence.why : await db.transaction((tx) => compare(tx, fence, server, seen));
    this.#tell(why ?? (await readFence(db)).why);
    return seen.hasMore || why === undefined;
  }

  /** Whoever was refused tries again within a moment. */
  async #lookNow(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (await this.look());
    } catch (error) {
      this.#sources.log.warn({ err: error }, "whether the database lacks what was announced is not known yet");
    } finally {
      this.#isLooking = false;
    }
  }

  #tell(why: RecoveryReason): void {
    const { log, service } = this.#sources;
    recovering.set({ service }, why === "" ? 0 : 1);
    if (why === this.#why) return;
    this.#why = why;
    if (why === "") log.warn("the recovery has ended; new requests are taken again");
    else log.fatal({ alert: "recovering", why }, "the database may lack what was announced: nothing new is begun");
  }

  /** Phase 1: the stream from where it was read before, without the places that the relay noted as known. */
  async #read(fence: Fence, server: string, stream: StreamInfo | undefined): Promise<Read> {
    const place = { streamCreated: fence.streamCreated, streamSeq: fence.streamSeq };
    const unread: Read = { place, passedOver: undefined, own: [], hasMore: false, word: "unsure" };
    if (!stream) return unread;
    const { first_seq: first, last_seq: last } = stream.state;
    if (fence.streamCreated !== stream.created || last < fence.streamSeq) {
      // Another stream says nothing of what the old one had. The next look begins with its newest events.
      if (isOtherServer(fence, server)) return unread;
      const streamSeq = Math.max(first - 1, last - readMax, 0);
      return { ...unread, place: { streamCreated: stream.created, streamSeq }, hasMore: true };
    }
    const next = Math.max(fence.streamSeq + 1, first);
    const known = await this.#known(stream, next);
    const from = known && isWithin(known, next) ? known.to + 1 : next;
    const to = Math.min(last, from + readMax - 1);
    const own = await this.#ownEvents(from, to, known);
    const hasMore = to < last;
    return {
      place: { streamCreated: stream.created, streamSeq: Math.max(to, fence.streamSeq) },
      passedOver: known,
      own,
      hasMore,
      word: hasMore ? "unsure" : "agrees",
    };
  }

  /**
   * What the relay noted, where it spares reading. Only if its last place holds the noted event still: a stream that
   * was cut before it, which this database need not have heard of, has given the place to another, or to none yet.
   */
  async #known(stream: StreamInfo, next: number): Promise<KnownPlaces | undefined> {
    const { db } = this.#sources;
    const noted = await knownPlaces(db);
    if (noted.madeAt !== stream.created || noted.to < Math.max(noted.from, next)) return undefined;
    const last = await this.#ownEvent(noted.to);
    return last && (await placeOf(db, last.id)) === noted.to ? noted : undefined;
  }

  async #ownEvents(from: number, to: number, known: KnownPlaces | undefined): Promise<OwnEvent[]> {
    const found: OwnEvent[] = [];
    let next = from;
    const reader = async () => {
      while (next <= to) {
        const seq = next++;
        if (known && isWithin(known, seq)) continue;
        const event = await this.#ownEvent(seq);
        if (event) found.push(event);
      }
    };
    await Promise.all(Array.from({ length: readsAtOnce }, reader));
    return found;
  }

  /** undefined: it is not ours, whoever says so, or too old to prove anything. */
  async #ownEvent(streamSeq: number): Promise<OwnEvent | undefined> {
    const { bus, service, seal } = this.#sources;
    const message = await bus.stored(service, streamSeq);
    if (!message || !seal.isOwn(message.subject, message.data, message.headers?.get(sealHeader) ?? ""))
      return undefined;
    const event: Event = fromBinary(EventSchema, message.data);
    const isProof = event.occurredAt !== undefined && clockMs() - timestampDate(event.occurredAt).getTime() < provesMs;
    return isProof ? { id: event.id, streamSeq, subject: message.subject, body: message.data } : undefined;
  }
}

interface Read {
  readonly place: Pick<Fence, "streamCreated" | "streamSeq">;
  /** Not read, since the database knows their events. */
  readonly passedOver: KnownPlaces | undefined;
  readonly own: readonly OwnEvent[];
  readonly hasMore: boolean;
  /** If the database knows what was read. */
  readonly word: Extract<StreamWord, "agrees" | "unsure">;
}

/**
 * Phase 2, on one connection, so that it is one server that knows the events and keeps what was found.
 * @returns why the service recovers; undefined: look again, it was another replica's or another server's turn
 */
async function compare(tx: Tx, fence: Fence, server: string, read: Read): Promise<RecoveryReason | undefined> {
  const { passedOver, own } = read;
  if (passedOver && !includes(await knownPlaces(tx), passedOver)) return undefined;
  const ids = own.map(({ id }) => id);
  const unknown = ids.length > 0 ? await unknownToOutbox(tx, ids) : new Set();
  const missing = own.filter(({ id }) => unknown.has(id));
  const to = movedBy(fence, server, read, missing);
  if (!to) return fence.why;
  return (await moveFence(tx, fence, to, missing)) ? to.why : undefined;
}

/** Where the fence goes by what was read and what of it is missing; undefined: nothing is to be written. */
function movedBy(
  fence: Fence,
  server: string,
  read: Read,
  missing: readonly OwnEvent[],
): Omit<Fence, "since"> | undefined {
  const { why, server: vouched } = judgeStream(fence, { server, stream: missing.length > 0 ? "lacks" : read.word });
  const to = { ...read.place, why, server: vouched };
  const isNews = missing.length > 0 || (Object.keys(to) as (keyof typeof to)[]).some((key) => to[key] !== fence[key]);
  return isNews ? to : undefined;
}

function isWithin({ from, to }: KnownPlaces, place: number): boolean {
  return place >= from && place <= to;
}

function includes(known: KnownPlaces, { madeAt, from, to }: KnownPlaces): boolean {
  return known.madeAt === madeAt && known.from <= from && known.to >= to;
}
