// The `npm start` commands of one test file: each on settings of its own, all ended and their state removed when the
// file is done.
import { type ChildProcess, spawn } from "node:child_process";
import { readFile, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { freePort } from "../../../deploy/local/free-port.ts";
import { inspectProcess } from "../../../deploy/local/process/process-table.ts";
import type { StackInfo } from "../../../deploy/local/stack-file.ts";
import { eventually } from "../eventually.ts";
import { tempDir } from "../temp-dir.ts";

/** Starts and ends commands for a test file. */
export interface StartCommands {
  /** A new state directory. */
  newDir(): Promise<string>;
  /** A new state directory and free ports. */
  settings(): Promise<Record<string, string>>;
  start(env: Record<string, string>, byNpm?: boolean): StartCommand;
  /** For `after`: ends what runs and removes the directories. */
  clear(): Promise<void>;
}

/**
 * Processes drain for up to 9 s when their supervisor is gone; on a machine busy with other tests the end comes later.
 */
const goneMsMax = 30_000;

/** Keeps track of the commands of a file. */
export function startCommands(): StartCommands {
  const dirs: string[] = [];
  const running = new Set<StartCommand>();
  const newDir = async () => {
    const dir = await tempDir("start");
    dirs.push(dir);
    return dir;
  };
  return {
    newDir,
    settings: async () => ({
      STATE_DIR: await newDir(),
      PORT: String(await freePort()),
      // The neighbours, which it would take by itself, may be another stack's.
      SIMULATOR_PORT: String(await freePort()),
      SHOP_PORT: String(await freePort()),
      CONSOLE_PORT: String(await freePort()),
      OPERATORS_PORT: String(await freePort()),
      MAILBOX_PORT: String(await freePort()),
    }),
    start(env, byNpm) {
      const command = startCommand(env, byNpm);
      running.add(command);
      void command.ended.then(() => running.delete(command));
      return command;
    },
    async clear() {
      for (const command of running) command.process.kill("SIGTERM");
      await Promise.all([...running].map((command) => command.ended));
      for (const dir of dirs) await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Waits until none of the processes is left. */
export async function allGone(pids: Record<string, number>): Promise<void> {
  const none = () => {
    const left = Object.entries(pids).filter(([, pid]) => inspectProcess(pid));
    if (left.length > 0) throw new Error(`still there: ${left.map(([name]) => name).join(", ")}`);
    return true;
  };
  await eventually("every process to be gone", none, { limitMs: goneMsMax });
}

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
function startCommand(env: Record<string, string>, byNpm = false): StartCommand {
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
