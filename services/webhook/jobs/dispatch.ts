// The dispatcher sends newly fanned-out deliveries from memory, and claims other due deliveries from the queue:
// retries, overflow, and claims of a crashed process. It claims lane by lane, so no backlog hides another lane's work.
import type { Database } from "#platform/database/database.ts";
import { type JobContext, Wake } from "#platform/process/job.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { type AttemptDeps, type AttemptResult, attemptDelivery } from "../flows/attempt-delivery.ts";
import {
  claimDue,
  type DueDelivery,
  type LaneKey,
  type LaneQuota,
  releaseClaims,
  walkLanes,
} from "../store/delivery-queue.ts";
import type { Sending } from "./lane.ts";
import { Lanes } from "./lanes.ts";
import { type AttemptRecorder, unrecordedMax } from "./record-attempts.ts";

// A due retry starts at most this late; docs/contract.md §9 asks for 1 s.
const everyMs = 250;
// One index read each: 5,000 lanes take about 15 ms.
const lanesPerWalkMax = 5_000;
// Limits a claim's duration and memory.
const claimMax = 1_000;
// A stopping process waits this long for attempts in flight; another process sends the rest again.
const drainMs = 5_000;

export class Dispatcher {
  readonly lanes: Lanes;
  readonly #db: Database;
  readonly #deps: AttemptDeps;
  readonly #recorder: AttemptRecorder;
  readonly #log: Log;
  readonly #owner: string;
  readonly #leaseSeconds: number;
  #walkedTo: LaneKey | undefined;
  #walkAtMs = 0;
  #isStopping = false;
  #drainTimer: NodeJS.Timeout | undefined;
  readonly #wake = new Wake();
  #completed: () => void = () => {};

  /** @param options.owner this process's name in claims, which last `leaseSeconds` */
  constructor(options: {
    db: Database;
    deps: AttemptDeps;
    recorder: AttemptRecorder;
    owner: string;
    leaseSeconds: number;
    log: Log;
  }) {
    this.lanes = new Lanes(options.leaseSeconds);
    this.#db = options.db;
    this.#deps = options.deps;
    this.#recorder = options.recorder;
    this.#owner = options.owner;
    this.#leaseSeconds = options.leaseSeconds;
    this.#log = options.log;
  }

  get job(): JobContext {
    return { name: "dispatch", everyMs, runOnce: () => this.runOnce(), wake: this.#wake };
  }

  /** Whether the fan-out may claim new deliveries for this process. */
  get isTaking(): boolean {
    return !this.#isStopping && !this.lanes.isFull;
  }

  /** Accepts deliveries that this process has claimed, and releases claims that do not fit. */
  admit(deliveries: readonly DueDelivery[]): void {
    const nowMs = performance.now();
    const refused = deliveries.filter((delivery) => this.#isStopping || !this.lanes.take(delivery, nowMs));
    this.#release(refused);
    this.#drain();
  }

  /** Call when the queue contains due deliveries of this endpoint. */
  wake(key: LaneKey): void {
    this.lanes.addBacklog(this.lanes.lane(key));
    this.#wake.now();
  }

  /** Claims due deliveries for lanes that have room. @returns true if there are more */
  async runOnce(): Promise<boolean> {
    if (this.#isStopping) return false;
    this.lanes.unparkAll();
    this.#release(this.lanes.takeStale());
    if (performance.now() >= this.#walkAtMs) await this.#walk();
    const hasMore = await this.#claim();
    this.#drain();
    return hasMore;
  }

  /** Stops sending, waits for attempts in flight within a limit, and releases all other claims. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#drainTimer);
    if (this.lanes.inFlight > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, drainMs);
        this.#completed = () => {
          if (this.lanes.inFlight > 0) return;
          clearTimeout(timer);
          resolve();
        };
      });
    }
    await this.#recorder.close();
    await releaseClaims(this.#db, this.lanes.takeAll(), this.#owner).catch((error) => {
      this.#log.warn({ err: error }, "claims not released: they expire");
    });
    this.#deps.sender.close();
  }

  async #walk(): Promise<void> {
    const lanes = await walkLanes(this.#db, lanesPerWalkMax, this.#walkedTo);
    this.#walkedTo = lanes.length === lanesPerWalkMax ? lanes.at(-1) : undefined;
    this.#walkAtMs = performance.now() + everyMs / 2;
    for (const lane of lanes) if (lane.isDue) this.lanes.addBacklog(this.lanes.lane(lane));
  }

  async #claim(): Promise<boolean> {
    const quotas = await this.#quotas();
    if (quotas.length === 0) return false;
    const claimed = await claimDue(this.#db, {
      lanes: quotas,
      owner: this.#owner,
      leaseSeconds: this.#leaseSeconds,
      totalMax: claimMax,
    });
    const counts = new Map<string, number>();
    for (const { endpointId } of claimed) counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1);
    const hasMore = quotas.filter((quota) => counts.get(quota.endpointId) === quota.wanted);
    for (const quota of hasMore) this.lanes.addBacklog(this.lanes.lane(quota));
    this.admit(claimed);
    return hasMore.length > 0 && claimed.length >= claimMax / 2;
  }

  /** Quotas of active endpoints only; an inactive endpoint's deliveries stay in the queue. */
  async #quotas(): Promise<LaneQuota[]> {
    if (this.lanes.isFull || this.#recorder.unrecorded >= unrecordedMax) return [];
    const quotas = this.lanes.takeQuotas(performance.now(), claimMax);
    const endpoints = await Promise.all(quotas.map((quota) => this.#deps.endpoints.get(quota)));
    return quotas.filter((_quota, i) => endpoints[i]?.status === "active");
  }

  #drain(): void {
    while (!this.#isStopping && this.#recorder.unrecorded + this.lanes.inFlight < unrecordedMax) {
      const sending = this.lanes.next(performance.now());
      if (!sending) {
        this.#drainAt(this.lanes.probeAtMs);
        break;
      }
      void this.#send(sending);
    }
  }

  #drainAt(atMs: number | undefined): void {
    if (atMs === undefined || this.#drainTimer || this.#isStopping) return;
    this.#drainTimer = setTimeout(
      () => {
        this.#drainTimer = undefined;
        this.#drain();
      },
      Math.max(1, atMs - performance.now()),
    );
  }

  async #send(sending: Sending): Promise<void> {
    let attempted: AttemptResult | undefined;
    try {
      attempted = await attemptDelivery(this.#deps, sending.delivery);
    } catch (error) {
      this.#log.debug({ err: error, delivery: sending.delivery.id }, "delivery returned to queue");
    }
    this.lanes.complete(sending, attempted?.signal, performance.now());
    if (attempted) this.#recorder.add(attempted);
    else this.#release([sending.delivery]);
    if (this.lanes.hasBacklog(sending.lane) && sending.lane.waiting.length <= sending.lane.state.limit / 2)
      this.#wake.now();
    this.#completed();
    this.#drain();
  }

  #release(deliveries: readonly DueDelivery[]): void {
    if (deliveries.length === 0) return;
    releaseClaims(this.#db, deliveries, this.#owner).catch((error) => {
      this.#log.debug({ err: error, claims: deliveries.length }, "claims not released: they expire");
    });
  }
}
