// Detects that this service's database lacks events that the service announced (a restore, or a failover that lost
// commits). Nothing new begins until an operator ends the recovery, since a payment may be unknown here. The relay
// publishes after the commit, so an own event in the stream that the outbox lacks is proof.
import { setTimeout as pause } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Gauge, type Registry, register } from "prom-client";
import type { Database } from "#platform/database/database.ts";
import type { EventBus } from "#platform/events/event-bus.ts";
import { type EventSeal, sealHeader } from "#platform/events/event-keys.ts";
import { streamKeepDays } from "#platform/events/streams.ts";
import type { JobContext } from "#platform/process/job.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { newGauge } from "#platform/telemetry/metrics.ts";
import { clockMs } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import type { NatsConnection, StreamInfo } from "#platform/values/nats.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import type { Source } from "../../services.ts";
import {
  type Fence,
  isOtherServer,
  judgeDatabase,
  moveFence,
  type OwnEvent,
  type RecoveryReason,
  readFence,
  readSurroundings,
  serverOf,
  unknownToOutbox,
} from "./recovery-store.ts";

interface RecoverySources {
  readonly service: Source;
  readonly db: Database;
  readonly bus: EventBus;
  readonly seal: EventSeal;
  readonly log: Log;
  /** For tests. */
  readonly settleMs?: number;
  /** Absent for a process with one service. */
  readonly registry?: Registry;
}

// A running process detects a restored database this soon; a starting one compares before it serves.
const everyMs = 2_000;
// Events in transit during a change have reached the stream by then: a publication fails after 5 s.
const defaultSettleMs = 10_000;
// An available broker answers at once; a service also starts without one.
const startMsMax = 3_000;
const startPauseMs = 20;
// Positions compared together. Fewer are published before a change is noticed.
const readMax = 1_000;
const readsAtOnce = 50;
// A recovery takes minutes; clients should not wait for it.
const retryAfterMs = 30_000;
// Older events are swept from the outbox, so a resent one would prove nothing.
const provesMs = streamKeepDays * 86_400_000;

export class Recovery {
  readonly job: JobContext;
  readonly #sources: RecoverySources;
  readonly #recovering: Gauge<"service">;
  #why: RecoveryReason = "";
  #isChecking = false;
  #connection: NatsConnection | undefined;
  #surroundings = "";
  #changedAt = 0;
  /** A complete comparison started at least `settleMs` after the last change. */
  #isSettled = false;
  /** The connection on which the broker answered a comparison. */
  #comparedOn: NatsConnection | undefined;

  private constructor(sources: RecoverySources) {
    this.#sources = sources;
    this.#recovering = newGauge(sources.registry ?? register, {
      name: "tollbooth_recovering",
      help: "1 while the service lacks what it had announced, or cannot know it, and begins nothing new; else 0.",
      labelNames: ["service"] as const,
    });
    this.job = { name: "watch-recovery", everyMs, failurePauseMsMax: everyMs, runOnce: () => this.checkDatabase() };
  }

  /** Compares before the service starts, and waits only briefly for the broker. */
  static async begin(sources: RecoverySources): Promise<Recovery> {
    const recovery = new Recovery(sources);
    sources.db.onUnknownServer = () => void recovery.#checkNow();
    const until = performance.now() + startMsMax;
    while (!sources.bus.connected && performance.now() < until) await pause(startPauseMs);
    while (await recovery.checkDatabase());
    return recovery;
  }

  get isOn(): boolean {
    return this.#why !== "";
  }

  /** Call before writing or sending anything new. @throws Failure SERVICE_UNAVAILABLE */
  assertOff(): void {
    if (this.isOn)
      throw new Failure("SERVICE_UNAVAILABLE", { cause: new Error(`recovering: ${this.#why}`), retryAfterMs });
  }

  /** Jobs that pause during a recovery, since they send stored data. */
  pausing(jobs: readonly JobContext[]): JobContext[] {
    return jobs.map((job) => ({ ...job, runOnce: async () => !this.isOn && (await job.runOnce()) }));
  }

  /**
   * Reads the fence. After a change it compares the database with the stream: at a start, on a new broker connection,
   * after a change or restart of the database server, and when the stream was replaced or cut.
   * @returns true when another replica moved the fence: check again
   */
  async checkDatabase(): Promise<boolean> {
    const { db, bus, settleMs = defaultSettleMs } = this.#sources;
    const { connection } = bus;
    const [fence, server, rest] = await Promise.all([readFence(db), serverOf(db), readSurroundings(db)]);
    const now = performance.now();
    const surroundings = `${server} ${rest}`;
    if (connection !== this.#connection || surroundings !== this.#surroundings) {
      this.#connection = connection;
      this.#surroundings = surroundings;
      this.#changedAt = now;
      this.#isSettled = false;
    }
    if (this.#isSettled) {
      this.#report(fence.why);
      return false;
    }
    const { why, isWhole } = await this.#compare(fence, server);
    this.#isSettled = isWhole && now - this.#changedAt >= settleMs;
    this.#report(why ?? (await readFence(db)).why);
    return why === undefined;
  }

  /**
   * Compares first on a new connection: events published by a restored database would hide the lost ones, which are
   * then not the newest.
   */
  async mayPublish(): Promise<boolean> {
    const { bus } = this.#sources;
    if (bus.connection !== this.#comparedOn) await this.checkDatabase();
    return bus.connection !== undefined && bus.connection === this.#comparedOn;
  }

  /** Immediately, since a refused caller retries within a moment. */
  async #checkNow(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      while (await this.checkDatabase());
    } catch (error) {
      this.#sources.log.warn({ err: error }, "recovery check pending");
    } finally {
      this.#isChecking = false;
    }
  }

  #report(why: RecoveryReason): void {
    const { log, service } = this.#sources;
    this.#recovering.set({ service }, why === "" ? 0 : 1);
    if (why === this.#why) return;
    this.#why = why;
    if (why === "") log.warn("recovery ended: accepting new requests");
    else log.fatal({ alert: "recovering", why }, "database may lack announced events: nothing new begins");
  }

  /**
   * Reads backwards from the stream's end to the last compared position, or to events that the database has: a database
   * that lost commits lacks the newest. Each step is one transaction, so one server answers the whole step.
   * @returns the recovery reason; undefined when another replica moved the fence
   */
  async #compare(fence: Fence, server: string): Promise<{ why: RecoveryReason | undefined; isWhole: boolean }> {
    const { db, service, bus } = this.#sources;
    const { connection } = bus;
    const state = await bus.state(service);
    const stream = state === "missing" ? undefined : state?.stream;
    const from = stream && firstToCompare(fence, server, stream);
    if (!stream || from === undefined) {
      const to = { ...fence, ...judgeDatabase(fence, { server, stream: "unsure" }) };
      const isMoved = await db.transaction((tx) => moveFence(tx, fence, to, []));
      if (isMoved && state) this.#comparedOn = connection;
      return { why: isMoved ? to.why : undefined, isWhole: false };
    }
    const end = { streamCreated: stream.created, streamSeq: stream.state.last_seq };
    let current: Omit<Fence, "since"> = fence;
    for (let last = end.streamSeq; ; last -= readMax) {
      const first = Math.max(from, last - readMax + 1);
      const own = await this.#ownEvents(first, last);
      if (own.length === 0 && first > from) continue;
      const before = current;
      const next = await db.transaction(async (tx) => {
        const unknown = await unknownToOutbox(tx, own);
        const isLast = first === from || unknown.length === 0;
        const judged = judgeDatabase(before, { server, stream: unknown.length > 0 ? "lacks" : "agrees" });
        const to = { ...before, ...(isLast && end), ...judged };
        return (await moveFence(tx, before, to, unknown)) ? { to, isLast } : undefined;
      });
      if (!next) return { why: undefined, isWhole: false };
      if (next.isLast) {
        this.#comparedOn = connection;
        return { why: next.to.why, isWhole: true };
      }
      current = next.to;
    }
  }

  async #ownEvents(from: number, to: number): Promise<OwnEvent[]> {
    const found: OwnEvent[] = [];
    let next = from;
    const reader = async () => {
      while (next <= to) {
        const event = await this.#ownEvent(next++);
        if (event) found.push(event);
      }
    };
    await Promise.all(Array.from({ length: readsAtOnce }, reader));
    return found;
  }

  /** Undefined for other services' events, and for events too old to prove anything. */
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

/** The first position to compare; undefined when another stream cannot prove anything about another server. */
function firstToCompare(fence: Fence, server: string, { created, state }: StreamInfo): number | undefined {
  const isSame = fence.streamCreated === created && state.last_seq >= fence.streamSeq;
  if (!isSame && isOtherServer(fence, server)) return undefined;
  // An empty stream may start at 0.
  return Math.max(1, state.first_seq, isSame ? fence.streamSeq + 1 : 0);
}
