// Runs work repeatedly, one run at a time: immediately when woken, else after a pause, which is longer after a failure.
import type { Logger } from "pino";

export interface Repeating {
  wake(): void;
  stop(): Promise<void>;
}

const failurePauseMs = 1_000; // while the database is unavailable

/** @param work returns the pause until the next run, milliseconds */
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
        log.warn({ err: error instanceof Error ? error.message : "unknown", job: name }, "job failed; retrying");
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
