// Reads refresh stale objects first, within bounds: one run per object at a time and per period, a limited number
// overall, and a short wait per reader. Unfinished refreshes continue after the answer.
import { setTimeout as pause } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Log } from "#platform/telemetry/log.ts";

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

  /** @param options.everyMs pause between two runs for one object */
  constructor(options: { readonly everyMs: number }, log: Log) {
    this.#repairs = new LRUCache({ max: rememberedMax, ttl: options.everyMs });
    this.#log = log;
  }

  /** @param repair may throw; the reader does not see it @returns true when it has just finished: read again */
  async refresh(id: string, repair: () => Promise<unknown>): Promise<boolean> {
    let run = this.#repairs.get(id);
    if (run === undefined) {
      if (this.#underWay >= inFlightMax) return false;
      run = this.#guarded(id, repair);
      this.#repairs.set(id, run);
    }
    return await Promise.race([run, pause(waitMs, false, { ref: false })]);
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
