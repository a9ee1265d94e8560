// The stack that a benchmark measures: with fsync, without rate limits, and with almost no logs.
import { rm } from "node:fs/promises";
import type { RunningStack, StackOptions } from "../../deploy/local/running-stack.ts";
import { startStack } from "../../deploy/local/start.ts";
import { tempDir } from "../harness/temp-dir.ts";

/**
 * Has the work done on a stack of its own, which is gone afterwards.
 * @param options over what every benchmark has
 */
export async function onBenchStack(
  work: (running: RunningStack, stateDir: string) => Promise<void>,
  { env, ...options }: Pick<StackOptions, "shape" | "env" | "envOf"> = {},
): Promise<void> {
  const stateDir = await tempDir("bench");
  const running = await startStack({
    ...{ port: 0, stateDir, quiet: true, durable: true },
    ...options,
    env: { RATE_LIMIT: "off", LOG_LEVEL: "warn", SIMULATOR_DELAY_MS: "0", ...env },
  });
  try {
    await work(running, stateDir);
  } finally {
    await running.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
}
