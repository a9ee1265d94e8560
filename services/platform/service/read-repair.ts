// Reads that find something stale settle it first, within bounds: one run at a time for each object, at most one in a
// while, so many at once at most, and no reader waits longer than a moment. What is not done by then goes on behind the
// answer.
import { LRUCache } from "lru-cache";
import type { Log } from "#platform/telemetry/log.ts";

export interface ReadRepairLimits {
  /** Pause between two runs for one object, milliseconds. */
  readonly everyMs: number;
}

// A reader notices no more than this; a processor answers within it as a rule.
const waitMs = 500;
// Beyond it readers get what is stored: a flood of reads must not become a flood at the processor.
const inFlightMax = 20;
// Objects that are remembered as asked about.
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

  /** @param repair may throw; the reader never hears of it. @returns true when it has just been done: read again. */
  async refresh(id: string, repair: () => Promise<unknown>): Promise<boolean> {
    const run = this.#run(id, repair);
    if (!run) return false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, waitMs, false);
    });
    try {
      return await Promise.race([run, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The run under way for the object, or a new one; undefined: not now. */
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
      this.#log.warn({ err: error, id }, "a stale read was not repaired");
      return false;
    } finally {
      this.#underWay -= 1;
    }
  }
}
