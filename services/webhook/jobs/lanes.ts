// Decides which endpoint's lane sends next: in turn, within its own and a global limit. Slow endpoints share half of
// the slots and silent ones a quarter. Connections to unproven endpoints are opened one at a time.
import { afterAttempt, classifyLane, inFlightLimit, type Signal, type Standing } from "../rules/lane.ts";
import type { DueDelivery, LaneKey, LaneQuota } from "../store/delivery-queue.ts";
import { Lane, type Sending } from "./lane.ts";
import { Probes } from "./probes.ts";

/** Limit of attempts in flight. Each costs a socket and about 100 KiB with TLS. */
export const inFlightMax = 256;
/** Shares of that limit: `slow` counts all lanes that are not quick, the silent ones included. */
export const heldBackMax = { slow: inFlightMax / 2, silent: inFlightMax / 4 } as const;
// Limit of waiting deliveries of all lanes, about 1 KiB each.
const waitingTotalMax = 10_000;
// Idle lanes keep their endpoint's behaviour, up to this many.
const lanesMax = 20_000;
// How long the counts by standing are reused; counting visits all busy lanes.
const countMs = 20;
// Slots count as saturated for this long after they were all taken: even under full load some are free for moments.
const saturatedMs = 1_000;

export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with waiting deliveries that may be able to send, in the order of their turns. */
  readonly #turns = new Set<Lane>();
  /** Lanes with waiting deliveries that pause, or wait for a slot of their standing. */
  readonly #parked = { quick: new Set<Lane>(), slow: new Set<Lane>(), silent: new Set<Lane>() } as const;
  /** Unproven lanes with waiting deliveries. */
  readonly #probes = new Probes();
  /** Lanes with possibly more due deliveries in the database, in the order in which they claim. */
  readonly #backlogged = new Set<Lane>();
  readonly #busy = new Set<Lane>();
  readonly #stale: DueDelivery[] = [];
  readonly #claimAgeMaxMs: number;
  #inFlight = 0;
  #waiting = 0;
  /** When all slots were last taken, and the highest number of busy lanes since saturation started. */
  #full = { atMs: Number.NEGATIVE_INFINITY, lanes: 0 };
  #count = { slow: 0, silent: 0, untilMs: 0 };

  /** @param leaseSeconds lease of a claim; the lease of a claim older than half may expire during an attempt */
  constructor(leaseSeconds: number) {
    this.#claimAgeMaxMs = (leaseSeconds * 1_000) / 2;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get isFull(): boolean {
    return this.#waiting >= waitingTotalMax;
  }

  /** When the next probe may start, or undefined if no lane waits for one. */
  get probeAtMs(): number | undefined {
    return this.#inFlight < inFlightMax ? this.#probes.nextAtMs : undefined;
  }

  lanesByStanding(): Record<Standing, number> {
    const counts = { quick: 0, slow: 0, silent: 0 };
    for (const lane of this.#lanes.values()) counts[classifyLane(lane.state, 0)] += 1;
    return counts;
  }

  /** Whether the endpoint did not answer its latest attempt. */
  isSilent({ endpointId }: LaneKey): boolean {
    const lane = this.#lanes.get(endpointId);
    return lane !== undefined && classifyLane(lane.state, 0) === "silent";
  }

  /** Gets or creates the endpoint's lane. */
  lane(key: LaneKey): Lane {
    const known = this.#lanes.get(key.endpointId);
    if (known) return known;
    if (this.#lanes.size >= lanesMax) this.#forgetIdle();
    const lane = new Lane({ merchantId: key.merchantId, endpointId: key.endpointId });
    this.#lanes.set(key.endpointId, lane);
    return lane;
  }

  /** Call if the database may contain more due deliveries of the lane. */
  addBacklog(lane: Lane): void {
    this.#backlogged.add(lane);
  }

  hasBacklog(lane: Lane): boolean {
    return this.#backlogged.has(lane);
  }

  /**
   * Quotas of lanes with a backlog, the longest waiting first, with equal shares. The caller adds a lane again if its
   * whole quota was claimed.
   */
  takeQuotas(nowMs: number, totalMax: number): LaneQuota[] {
    const eligible: Lane[] = [];
    for (const lane of this.#backlogged) {
      if (eligible.length >= totalMax) break;
      if (nowMs >= lane.state.pausedUntilMs && lane.room > 0) eligible.push(lane);
    }
    const share = Math.floor(totalMax / Math.max(1, eligible.length));
    for (const lane of eligible) this.#backlogged.delete(lane);
    return eligible.map((lane) => ({ ...lane.key, wanted: Math.min(lane.room, share) }));
  }

  /** Endpoints whose lanes accept no more deliveries now. */
  fullEndpoints(): string[] {
    const full: string[] = [];
    const { quick, slow, silent } = this.#parked;
    for (const set of [this.#turns, quick, slow, silent, this.#probes, this.#busy]) {
      for (const lane of set) if (lane.room === 0) full.push(lane.key.endpointId);
    }
    return full;
  }

  /** Accepts a claimed delivery. @returns false if the lane is full and the caller must release the claim */
  take(delivery: DueDelivery, nowMs: number): boolean {
    const lane = this.lane(delivery);
    if (lane.room === 0 || this.isFull) {
      this.addBacklog(lane);
      return false;
    }
    lane.waiting.push({ delivery, claimedAtMs: nowMs });
    this.#waiting += 1;
    this.#giveTurn(lane);
    return true;
  }

  /** Starts the next delivery that may be sent; undefined if every lane is empty or at a limit. */
  next(nowMs: number): Sending | undefined {
    if (this.#inFlight >= inFlightMax) {
      const lanes = this.#isSaturated(nowMs) ? this.#full.lanes : 0;
      this.#full = { atMs: nowMs, lanes: Math.max(lanes, this.#busy.size) };
      return undefined;
    }
    const probe = this.#probes.isDue(nowMs) ? this.#probes.take() : undefined;
    if (probe) this.#turns.add(probe);
    for (const lane of this.#turns) {
      this.#turns.delete(lane);
      // A lane at its limit gets its next turn when one of its sends ends.
      if (lane.sendings.size >= inFlightLimit(lane.state)) continue;
      const kind = lane.standing(nowMs);
      if (nowMs < lane.state.pausedUntilMs || this.#isFullOf(kind, nowMs)) {
        this.#parked[kind].add(lane);
        continue;
      }
      if (!lane.state.isProven && !this.#probes.isDue(nowMs)) {
        this.#probes.add(lane);
        continue;
      }
      const delivery = this.#shift(lane, nowMs);
      if (lane.waiting.length > 0) this.#turns.add(lane);
      if (!delivery) continue;
      if (!lane.state.isProven) this.#probes.begun(nowMs);
      return this.#start({ lane, delivery, startedAtMs: nowMs }, kind);
    }
    return undefined;
  }

  /** Ends a send. @param signal undefined if it was not sent */
  complete(sending: Sending, signal: Signal | undefined, nowMs: number): void {
    const { lane } = sending;
    const isAtLimit = lane.sendings.size >= inFlightLimit(lane.state) && this.#mayGrow(lane, nowMs);
    lane.sendings.delete(sending);
    if (lane.sendings.size === 0) this.#busy.delete(lane);
    this.#inFlight -= 1;
    if (signal) {
      if (!lane.state.isProven && signal !== "silent") this.#probes.answered();
      const tookMs = nowMs - sending.startedAtMs;
      lane.state = afterAttempt(lane.state, { signal, tookMs, nowMs, isAtLimit });
    }
    this.#giveTurn(lane);
    // One slot is free: let the first parked lane of each kind check whether it may use it.
    this.#unparkOne(this.#parked.slow);
    this.#unparkOne(this.#parked.silent);
  }

  /** Lets every parked lane check again, since pauses end by time. */
  unparkAll(): void {
    for (const set of Object.values(this.#parked)) {
      for (const lane of set) this.#unpark(set, lane);
    }
  }

  /** Removes claims that waited too long; the caller releases them. */
  takeStale(): DueDelivery[] {
    return this.#stale.splice(0);
  }

  /** Removes all deliveries, waiting or in flight; the caller releases their claims at the end. */
  takeAll(): DueDelivery[] {
    const deliveries = this.takeStale();
    for (const lane of this.#lanes.values()) {
      deliveries.push(...lane.waiting.splice(0).map((w) => w.delivery));
      for (const sending of lane.sendings) deliveries.push(sending.delivery);
    }
    this.#waiting = 0;
    return deliveries;
  }

  #start(sending: Sending, kind: Standing): Sending {
    sending.lane.sendings.add(sending);
    this.#busy.add(sending.lane);
    this.#inFlight += 1;
    if (kind !== "quick") this.#count[kind] += 1;
    return sending;
  }

  /** Queues the lane for a turn, unless it is empty, parked or waits for a probe. */
  #giveTurn(lane: Lane): void {
    if (lane.waiting.length === 0 || this.#probes.has(lane)) return;
    for (const set of Object.values(this.#parked)) if (set.has(lane)) return;
    this.#turns.add(lane);
  }

  #unparkOne(set: Set<Lane>): void {
    for (const lane of set) {
      this.#unpark(set, lane);
      return;
    }
  }

  #unpark(set: Set<Lane>, lane: Lane): void {
    set.delete(lane);
    if (lane.waiting.length > 0) this.#turns.add(lane);
  }

  #shift(lane: Lane, nowMs: number): DueDelivery | undefined {
    for (let next = lane.waiting.shift(); next; next = lane.waiting.shift()) {
      this.#waiting -= 1;
      if (nowMs - next.claimedAtMs < this.#claimAgeMaxMs) return next.delivery;
      this.#stale.push(next.delivery);
      this.addBacklog(lane);
    }
    return undefined;
  }

  #isFullOf(kind: Standing, nowMs: number): boolean {
    if (kind === "quick") return false;
    if (nowMs >= this.#count.untilMs) this.#recount(nowMs);
    const { slow, silent } = this.#count;
    return slow + silent >= heldBackMax.slow || (kind === "silent" && silent >= heldBackMax.silent);
  }

  /**
   * While slots are saturated only lanes below an equal share grow: a higher limit would take slots from other lanes,
   * at the price of one new connection each.
   */
  #mayGrow(lane: Lane, nowMs: number): boolean {
    return !this.#isSaturated(nowMs) || lane.state.limit < inFlightMax / this.#full.lanes;
  }

  #isSaturated(nowMs: number): boolean {
    return nowMs - this.#full.atMs < saturatedMs;
  }

  #recount(nowMs: number): void {
    this.#count = { slow: 0, silent: 0, untilMs: nowMs + countMs };
    for (const lane of this.#busy) {
      const kind = lane.standing(nowMs);
      if (kind !== "quick") this.#count[kind] += lane.sendings.size;
    }
  }

  #forgetIdle(): void {
    for (const [id, lane] of this.#lanes) {
      if (lane.sendings.size > 0 || lane.waiting.length > 0) continue;
      this.#lanes.delete(id);
      this.#backlogged.delete(lane);
      return;
    }
  }
}
