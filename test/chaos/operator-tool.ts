// The operators' command line against a run's stack.
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { RunningStack } from "../../deploy/local/running-stack.ts";

export const execute = promisify(execFile);
export const outputMax = 1_000_000_000;
const root = join(import.meta.dirname, "../..");

/** Of the stack's secrets and certificates. */
export function stateDirOf({ stack }: RunningStack): string {
  return dirname(dirname(stack.tls.ca));
}

/** Runs `tollbooth <words>`. @returns what it prints @throws when it exits with another code than 0 */
export async function runOperatorTool(running: RunningStack, ...words: string[]): Promise<string> {
  const env = { ...process.env, STATE_DIR: stateDirOf(running) };
  const options = { cwd: root, env, maxBuffer: outputMax };
  return (await execute(process.execPath, ["deploy/cli/main.ts", ...words], options)).stdout;
}
