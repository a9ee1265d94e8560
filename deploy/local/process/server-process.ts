// Runs one server program (PostgreSQL, nats-server) as a child: waits until it says that it is ready, keeps its log,
// and makes sure that it ends with its parent, however the parent ends.
import { spawn } from "node:child_process";
import type { LogFile } from "./log-file.ts";
import { becomesReady, exitOf, type RunningProcess, release, runningProcess } from "./running-process.ts";

/** How to run a server program. */
export interface ServerProgram {
  /** Shown in errors. */
  name: string;
  program: string;
  args: string[];
  /** The whole environment of the server: nothing of ours leaks into it. */
  env: Record<string, string>;
  /** Runs as this user; absent: as we do. */
  uid?: number;
  gid?: number;
  /** In its output when it serves. */
  readyText: string;
  /** What asks it to stop at once, cleanly. */
  stopSignal: NodeJS.Signals;
  log?: LogFile;
  /** False: the server does not keep our event loop alive (a test file ends when its tests have). */
  keepsParentAlive?: boolean;
}

// Recovery after a kill replays at most max_wal_size (1 GB); on a slow disk that is most of a minute.
const readyMsMax = 60_000;
const outputTailChars = 4_000; // the last words of a server that did not start

/** Starts the program and waits until it is ready. */
export async function runServer(wanted: ServerProgram): Promise<RunningProcess> {
  const child = spawn(wanted.program, wanted.args, {
    cwd: "/",
    env: wanted.env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // Ctrl-C reaches the supervisor alone, which stops the servers after those that use them
    ...(wanted.uid === undefined ? {} : { uid: wanted.uid }),
    ...(wanted.gid === undefined ? {} : { gid: wanted.gid }),
  });
  const exited = exitOf(child);
  if (child.pid !== undefined) void exited.then(guard(child.pid, wanted.stopSignal));
  void exited.then(() => wanted.log?.close());
  let tail = "";
  await becomesReady(child, {
    name: wanted.name,
    limitMs: readyMsMax,
    exited,
    onReady(notify) {
      const read = (data: Buffer) => {
        wanted.log?.write(data);
        tail = (tail + data.toString()).slice(-outputTailChars);
        if (tail.includes(wanted.readyText)) notify();
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
    },
    lastWords: () => tail.trim(),
  });
  if (wanted.keepsParentAlive === false) release(child);
  return runningProcess(child, exited, wanted.stopSignal);
}

/**
 * A shell that waits for the end of its input, which comes when we are gone, also by kill -9, and then stops the
 * server.
 * @returns ends the guard; to be called as soon as the server has ended, before its pid can belong to another process
 */
function guard(pid: number, signal: NodeJS.Signals): () => void {
  const script = `read -r _; kill -s ${signal.slice("SIG".length)} "$0" 2>/dev/null`;
  const shell = spawn("/bin/sh", ["-c", script, String(pid)], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  shell.once("error", () => {}); // no shell, no guard: the next start clears up
  shell.stdin.once("error", () => {});
  release(shell);
  return () => void shell.kill("SIGKILL");
}
