// Reads refresh stale objects first, within bounds: one run per object at a time and per period, a limited number
// overall, and a short wait per reader. Unfinished refreshes continue after the answer.
import { setTimeout as pause } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Log } from "#platform/telemetry/log.ts";

interface ReadRepairLimits {
  /** Pause between two runs for one object, milliseconds. */
  readonly everyMs: number;
}

// Readers hardly notice this wait; processors usually answer within it.
const waitMs = 500;
// Above this, readers get the stored state: many reads must not flood the processor.
const inFlightMax = 20;
const rememberedMax = 10_000;

export class ReadRepair {
  readonly #log: Log;
  /** The latest run for each object. */
  readonly #repairs: LRUCache<string, Promise<boolean>>;
  #underWay = 0;

  constructor(limits: ReadRepairLimits, log: Log) {
    this.#repairs = new LRUCache({ max: rememberedMax, ttl: limits.everyMs });
    this.#log = log;
  }

  /** @param repair may throw; the reader does not see it @returns true when it has just finished: read again */
  async refresh(id: string, repair: () => Promise<unknown>): Promise<boolean> {
    const run = this.#run(id, repair);
    if (!run) return false;
    return await Promise.race([run, pause(waitMs, false, { ref: false })]);
  }

  /** The active run for the object, or a new one; undefined when over the limit. */
  #run(id: string, repair: () => Promise<unknown>): Promise<boolean> | undefined {
    const known = this.#repairs.get(id);
    if (known !== undefined) return known;
    if (this.#underWay >= inFlightMax) return undefined;
    const run = this.#guarded(id, repair);
    this.#repairs.set(id, run);
    return run;
  }

  async #guarded(id: string, repair: () => Promise<unknown>): Promise<boolean> {
    this.#underWay += 1;
    try {
      await repair();
      return true;
    } catch (error) {
      this.#log.warn({ err: error, id }, "read repair failed");
      return false;
    } finally {
      this.#underWay -= 1;
    }
  }
}
