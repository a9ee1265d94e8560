// One endpoint's lane in this process: what it holds claimed, what it has under way, and what its endpoint has shown so
// far.
import { classifyLane, type LaneState, newLane, type Standing, waitingLimit } from "../rules/lane.ts";
import type { DueDelivery, LaneKey } from "../store/delivery-queue.ts";

/** A delivery under way. */
export interface Sending {
  readonly lane: Lane;
  readonly delivery: DueDelivery;
  readonly startedAtMs: number;
}

export class Lane {
  readonly key: LaneKey;
  state: LaneState = newLane;
  readonly waiting: { delivery: DueDelivery; claimedAtMs: number }[] = [];
  readonly sendings = new Set<Sending>();

  constructor(key: LaneKey) {
    this.key = key;
  }

  /** How many more claimed deliveries it takes. */
  get room(): number {
    return Math.max(0, waitingLimit(this.state) - this.waiting.length);
  }

  standing(nowMs: number): Standing {
    const [oldest] = this.sendings;
    return classifyLane(this.state, oldest ? nowMs - oldest.startedAtMs : 0);
  }
}
