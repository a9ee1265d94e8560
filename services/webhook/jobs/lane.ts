// One endpoint's lane in this process: its claimed deliveries, its attempts in flight and its endpoint's behaviour.
import { classifyLane, type LaneState, newLane, type Standing, waitingLimit } from "../rules/lane.ts";
import type { DueDelivery, LaneKey } from "../store/delivery-queue.ts";

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

  /** How many more claimed deliveries it accepts. */
  get room(): number {
    return Math.max(0, waitingLimit(this.state) - this.waiting.length);
  }

  standing(nowMs: number): Standing {
    const [oldest] = this.sendings;
    return classifyLane(this.state, oldest ? nowMs - oldest.startedAtMs : 0);
  }
}
