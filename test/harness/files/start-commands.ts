// The `npm start` commands of one test file: each on settings of its own, all ended and their state removed when the
// file is done.
import { rm } from "node:fs/promises";
import { freePort } from "../../../deploy/local/free-port.ts";
import { inspectProcess } from "../../../deploy/local/process/process-table.ts";
import { eventually } from "../eventually.ts";
import { tempDir } from "../temp-dir.ts";
import { type StartCommand, startCommand } from "./start-command.ts";

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
