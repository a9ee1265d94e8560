// Runs a piece of work again and again, one run at a time: at once when woken, else after a pause; a failure pauses
// longer.
import type { Logger } from "pino";

export interface Repeating {
  wake(): void;
  /** Waits for the run under way. */
  stop(): Promise<void>;
}

const failurePauseMs = 1_000; // the database is away: ask again soon, but not in a loop

/** @param work answers with the milliseconds until the next run when nobody wakes it */
export function repeatWork(name: string, log: Logger, work: () => Promise<number>): Repeating {
  let isStopped = false;
  let isWoken = false;
  let endPause: (() => void) | undefined;

  const pauseFor = (ms: number) =>
    new Promise<void>((resolve) => {
      if (isStopped || isWoken) return resolve();
      const timer = setTimeout(resolve, ms);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const run = async () => {
    while (!isStopped) {
      isWoken = false;
      const ms = await work().catch((error: unknown) => {
        log.warn({ err: error instanceof Error ? error.message : "unknown", job: name }, "job failed; trying again");
        return failurePauseMs;
      });
      await pauseFor(ms);
      endPause = undefined;
    }
  };
  const running = run();
  return {
    wake() {
      isWoken = true;
      endPause?.();
    },
    async stop() {
      isStopped = true;
      endPause?.();
      await running;
    },
  };
}
