// `npm start` as a user has it: the command in a process of its own, its output, its state directory, its end.
import { type ChildProcess, spawn } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { StackInfo } from "../../../deploy/local/stack-file.ts";
import { eventually } from "../eventually.ts";

/** The running command. */
export interface StartCommand {
  process: ChildProcess;
  /** Everything it has printed so far. */
  output(): string;
  /** Waits until it is ready; answers with its stack.json. */
  ready(): Promise<StackInfo>;
  /** Its stack.json now. */
  stack(): Promise<StackInfo>;
  /** Its exit code, once it has ended; null when a signal ended it. */
  ended: Promise<number | null>;
}

const root = join(import.meta.dirname, "../../..");
const readyMsMax = 120_000; // 5 s alone; longer than what a start itself allows, so that its own message is seen

/**
 * Runs the command with these settings.
 * @param byNpm true: as `npm start`, whose process is npm's; else what npm start runs, so that signals reach it
 * directly
 */
export function startCommand(env: Record<string, string>, byNpm = false): StartCommand {
  const direct = [process.execPath, "deploy/local/bootstrap.cjs", "deploy/local/start.ts"] as const;
  const [command, ...args] = byNpm ? (["npm", "start"] as const) : direct;
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, DATABASE_URL: "", NATS_URL: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (output += data.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  const path = join(resolve(root, env.STATE_DIR ?? ".local"), "stack.json");
  const stack = async (): Promise<StackInfo> => JSON.parse(await readFile(path, "utf8"));
  return {
    process: child,
    output: () => output,
    stack,
    ended,
    async ready() {
      await eventually(
        "the stack to be ready",
        () => {
          if (child.exitCode !== null) throw new Error(`it ended: ${output}`);
          return output.includes("Tollbooth is ready") && output;
        },
        { limitMs: readyMsMax },
      );
      return stack();
    },
  };
}

/** The permission bits of a file. */
export async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}
