// Runs work after its call was answered. A stop runs it immediately and waits for it.
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";

export class Later {
  readonly #log: Logger;
  readonly #stopping: AbortSignal;
  readonly #inFlight = new Set<Promise<void>>();

  constructor(log: Logger, stopping: AbortSignal) {
    this.#log = log;
    this.#stopping = stopping;
  }

  start(ms: number, work: () => Promise<unknown>): void {
    const done: Promise<void> = this.#run(ms, work).finally(() => this.#inFlight.delete(done));
    this.#inFlight.add(done);
  }

  async done(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  async #run(ms: number, work: () => Promise<unknown>): Promise<void> {
    await pause(ms, undefined, { signal: this.#stopping }).catch(() => {});
    await work().catch((error: unknown) => {
      const err = error instanceof Error ? error.message : "unknown";
      this.#log.info({ err }, "delayed work failed");
    });
  }
}
