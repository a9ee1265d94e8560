// The lanes of a process: one per endpoint, with what it holds claimed in memory and what it has under way. Decides which lane
// may send next: in turn, within its own limit, a global limit, and with slow endpoints held to half of that.
import { afterAttempt, isSlow, type LaneState, newLane, type Signal, waitingLimit } from "../rules/lane.ts";
import type { DueDelivery, LaneKey } from "../store/delivery-queue.ts";

/** Deliveries under way at once, in all; each costs a socket and about 100 KiB with TLS. */
export const inFlightMax = 256;
const slowInFlightMax = inFlightMax / 2;
// All lanes together; about 1 KiB each.
const waitingTotalMax = 20_000;
// Idle lanes are remembered for what they have shown, up to this many.
const lanesMax = 20_000;
// How long a count of the slow ones under way is good for; counting walks all of them.
const slowCountMs = 20;
// A claim this old may end before the attempt does: half of its 30 s, an attempt being 10 s at most.
const claimAgeMaxMs = 15_000;

/** A delivery under way. */
export interface Flight {
  readonly lane: Lane;
  readonly delivery: DueDelivery;
  readonly startedAtMs: number;
}

export class Lane {
  readonly key: LaneKey;
  state: LaneState = newLane;
  /** The database may hold more due deliveries than are here. */
  hasBacklog = false;
  readonly waiting: { delivery: DueDelivery; claimedAtMs: number }[] = [];
  readonly flights = new Set<Flight>();

  constructor(key: LaneKey) {
    this.key = key;
  }

  /** How many more claimed deliveries it takes. */
  get room(): number {
    return Math.max(0, waitingLimit(this.state) - this.waiting.length);
  }

  isSlow(nowMs: number): boolean {
    const [oldest] = this.flights;
    return isSlow(this.state, oldest ? nowMs - oldest.startedAtMs : 0);
  }
}

export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with something waiting that may perhaps send, in the order of their turns. */
  readonly #turns = new Set<Lane>();
  /** Lanes with something waiting that pause, or wait for a slot of the slow half. */
  readonly #parked = new Set<Lane>();
  readonly #flying = new Set<Lane>();
  readonly #stale: DueDelivery[] = [];
  #inFlight = 0;
  #waiting = 0;
  #slow = { count: 0, untilMs: 0 };

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get isFull(): boolean {
    return this.#waiting >= waitingTotalMax;
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

  /** Lanes that take no more for now. */
  fullEndpoints(): string[] {
    const full: string[] = [];
    for (const set of [this.#turns, this.#parked, this.#flying]) {
      for (const lane of set) if (lane.room === 0) full.push(lane.key.endpointId);
    }
    return full;
  }

  /** Takes a claimed delivery. @returns false when the lane is full: give the claim back */
  take(delivery: DueDelivery, nowMs: number): boolean {
    const lane = this.lane(delivery);
    if (lane.room === 0 || this.isFull) {
      lane.hasBacklog = true;
      return false;
    }
    lane.waiting.push({ delivery, claimedAtMs: nowMs });
    this.#waiting += 1;
    if (!this.#parked.has(lane)) this.#turns.add(lane);
    return true;
  }

  /** The next delivery that may be sent, now under way; undefined when every lane is at a limit or has nothing. */
  next(nowMs: number): Flight | undefined {
    if (this.#inFlight >= inFlightMax) return undefined;
    for (const lane of this.#turns) {
      this.#turns.delete(lane);
      // A lane at its limit has its next turn when one of its sends is over.
      if (lane.flights.size >= lane.state.limit) continue;
      const isSlow = lane.isSlow(nowMs);
      if (nowMs < lane.state.pausedUntilMs || (isSlow && this.#slowInFlight(nowMs) >= slowInFlightMax)) {
        this.#parked.add(lane);
        continue;
      }
      const delivery = this.#shift(lane, nowMs);
      if (lane.waiting.length > 0) this.#turns.add(lane);
      if (!delivery) continue;
      return this.#start({ lane, delivery, startedAtMs: nowMs }, isSlow);
    }
    return undefined;
  }

  /** The delivery is not under way any more. @param signal undefined: it was not sent after all */
  land(flight: Flight, signal: Signal | undefined, nowMs: number): void {
    const { lane } = flight;
    lane.flights.delete(flight);
    if (lane.flights.size === 0) this.#flying.delete(lane);
    this.#inFlight -= 1;
    if (signal) lane.state = afterAttempt(lane.state, signal, nowMs - flight.startedAtMs, nowMs);
    if (lane.waiting.length > 0 && !this.#parked.has(lane)) this.#turns.add(lane);
    // One slot is free: the first that is parked has a look whether it was a slow one.
    for (const parked of this.#parked) {
      this.#unpark(parked);
      break;
    }
  }

  /** Lets every parked lane have a look; pauses end by time alone. */
  unparkAll(): void {
    for (const lane of this.#parked) this.#unpark(lane);
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
      for (const flight of lane.flights) deliveries.push(flight.delivery);
    }
    this.#waiting = 0;
    return deliveries;
  }

  /** Lanes that the database holds more for and that have room, with how much. */
  *wanting(nowMs: number): Generator<{ lane: Lane; room: number }> {
    for (const lane of this.#lanes.values()) {
      if (!lane.hasBacklog || nowMs < lane.state.pausedUntilMs) continue;
      const room = lane.room;
      if (room > 0) yield { lane, room };
    }
  }

  #start(flight: Flight, isSlow: boolean): Flight {
    flight.lane.flights.add(flight);
    this.#flying.add(flight.lane);
    this.#inFlight += 1;
    if (isSlow) this.#slow.count += 1;
    return flight;
  }

  #unpark(lane: Lane): void {
    this.#parked.delete(lane);
    if (lane.waiting.length > 0) this.#turns.add(lane);
  }

  #shift(lane: Lane, nowMs: number): DueDelivery | undefined {
    for (let next = lane.waiting.shift(); next; next = lane.waiting.shift()) {
      this.#waiting -= 1;
      if (nowMs - next.claimedAtMs < claimAgeMaxMs) return next.delivery;
      this.#stale.push(next.delivery);
      lane.hasBacklog = true;
    }
    return undefined;
  }

  #slowInFlight(nowMs: number): number {
    if (nowMs >= this.#slow.untilMs) {
      let count = 0;
      for (const lane of this.#flying) if (lane.isSlow(nowMs)) count += lane.flights.size;
      this.#slow = { count, untilMs: nowMs + slowCountMs };
    }
    return this.#slow.count;
  }

  #forgetIdle(): void {
    for (const [id, lane] of this.#lanes) {
      if (lane.flights.size > 0 || lane.waiting.length > 0) continue;
      this.#lanes.delete(id);
      return;
    }
  }
}
