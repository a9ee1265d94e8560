// Work that goes on after its call was answered. A stop lets it happen at once and waits for it.
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";

export class Later {
  readonly #log: Logger;
  readonly #stopping: AbortSignal;
  readonly #underWay = new Set<Promise<void>>();

  constructor(log: Logger, stopping: AbortSignal) {
    this.#log = log;
    this.#stopping = stopping;
  }

  start(ms: number, work: () => Promise<unknown>): void {
    const done: Promise<void> = this.#run(ms, work).finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  /** Waits until all of it has ended. */
  async done(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async #run(ms: number, work: () => Promise<unknown>): Promise<void> {
    await pause(ms, undefined, { signal: this.#stopping }).catch(() => {});
    await work().catch((error: unknown) => {
      const err = error instanceof Error ? error.message : "unknown";
      this.#log.info({ err }, "work after the answer came to nothing");
    });
  }
}
