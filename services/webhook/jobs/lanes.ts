// The lanes of a process: one per endpoint, with what it holds claimed in memory and what it has under way. Decides
// which lane may send next: in turn, within its own limit and a global one, with slow endpoints held to half of that,
// silent ones to a quarter, and connections to endpoints that have proven nothing opened one after the other.
import { afterAttempt, classifyLane, inFlightLimit, type Signal, type Standing } from "../rules/lane.ts";
import type { DueDelivery, LaneKey, LaneQuota } from "../store/delivery-queue.ts";
import { Lane, type Sending } from "./lane.ts";
import { Probes } from "./probes.ts";

/** Deliveries under way at once, in all; each costs a socket and about 100 KiB with TLS. */
export const inFlightMax = 256;
/** Of these, by what their lanes have shown: those at most that are not quick, and those that are silent. */
export const heldBackMax = { slow: inFlightMax / 2, silent: inFlightMax / 4 } as const;
// All lanes together; about 1 KiB each.
const waitingTotalMax = 10_000;
// Idle lanes are remembered for what they have shown, up to this many.
const lanesMax = 20_000;
// How long a count of those under way by standing is good for; counting walks all of them.
const countMs = 20;
// Slots count as all taken for this long after they last were: under full load there are moments when some are free.
const saturatedMs = 1_000;

export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with something waiting that may perhaps send, in the order of their turns. */
  readonly #turns = new Set<Lane>();
  /** Lanes with something waiting that pause, or wait for a slot of their kind. */
  readonly #parked = { quick: new Set<Lane>(), slow: new Set<Lane>(), silent: new Set<Lane>() } as const;
  /** Lanes with something waiting that have proven nothing and wait for their moment. */
  readonly #probes = new Probes();
  /** Lanes that the database may hold more due deliveries for, in the order in which they get some. */
  readonly #backlogged = new Set<Lane>();
  readonly #busy = new Set<Lane>();
  readonly #stale: DueDelivery[] = [];
  readonly #claimAgeMaxMs: number;
  #inFlight = 0;
  #waiting = 0;
  /** When all slots were last taken, and by how many lanes at most since they began to be. */
  #full = { atMs: Number.NEGATIVE_INFINITY, lanes: 0 };
  #count = { slow: 0, silent: 0, untilMs: 0 };

  /** @param leaseSeconds how long claims last: one that is half as old may end before its attempt does */
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

  /** When the next lane that waits for its moment has it; undefined: none does. */
  get probeAtMs(): number | undefined {
    return this.#inFlight < inFlightMax ? this.#probes.nextAtMs : undefined;
  }

  /** How many lanes there are, by what they have shown. */
  lanesByStanding(): Record<Standing, number> {
    const counts = { quick: 0, slow: 0, silent: 0 };
    for (const lane of this.#lanes.values()) counts[classifyLane(lane.state, 0)] += 1;
    return counts;
  }

  /** The endpoint's latest attempt got no answer. */
  isSilent({ endpointId }: LaneKey): boolean {
    const lane = this.#lanes.get(endpointId);
    return lane !== undefined && classifyLane(lane.state, 0) === "silent";
  }

  /** The lane of an endpoint, made if need be. */
  lane(key: LaneKey): Lane {
    const known = this.#lanes.get(key.endpointId);
    if (known) return known;
    if (this.#lanes.size >= lanesMax) this.#forgetIdle();
    const lane = new Lane({ merchantId: key.merchantId, endpointId: key.endpointId });
    this.#lanes.set(key.endpointId, lane);
    return lane;
  }

  /** The database may hold more due deliveries of the lane than are here. */
  addBacklog(lane: Lane): void {
    this.#backlogged.add(lane);
  }

  hasBacklog(lane: Lane): boolean {
    return this.#backlogged.has(lane);
  }

  /**
   * What lanes with a backlog have room for, those first that have waited longest, each an equal share; whoever gets
   * all it wished for is to be added again.
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

  /** Lanes that take no more for now. */
  fullEndpoints(): string[] {
    const full: string[] = [];
    const { quick, slow, silent } = this.#parked;
    for (const set of [this.#turns, quick, slow, silent, this.#probes, this.#busy]) {
      for (const lane of set) if (lane.room === 0) full.push(lane.key.endpointId);
    }
    return full;
  }

  /** Takes a claimed delivery. @returns false when the lane is full: give the claim back */
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

  /** The next delivery that may be sent, now under way; undefined when every lane is at a limit or has nothing. */
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
      // A lane at its limit has its next turn when one of its sends is over.
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

  /** The delivery is not under way any more. @param signal undefined: it was not sent after all */
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
    // One slot is free: the first that is parked has a look whether it was one of its kind.
    this.#unparkOne(this.#parked.slow);
    this.#unparkOne(this.#parked.silent);
  }

  /** Lets every parked lane have a look; pauses end by time alone. */
  unparkAll(): void {
    for (const set of Object.values(this.#parked)) {
      for (const lane of set) this.#unpark(set, lane);
    }
  }

  /** Claims that grew too old while waiting, to be given back. */
  takeStale(): DueDelivery[] {
    return this.#stale.splice(0);
  }

  /** Everything that waits or is under way, to be given back at the end. */
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

  /** Lets the lane have a turn, unless it has nothing or waits for something else. */
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
   * While all slots are taken, a higher limit would only take slots from other lanes, and each one it takes costs a
   * connection: then only lanes below an equal share grow.
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
