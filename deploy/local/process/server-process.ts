// Runs a server program (PostgreSQL, nats-server) as a child: waits until it is ready, writes its log file, and ends it
// when its parent ends, also after kill -9.
import { spawn } from "node:child_process";
import type { LogFile } from "./log-file.ts";
import { becomesReady, exitOf, type RunningProcess, releaseChild, runningProcess } from "./running-process.ts";

export interface ServerProgram {
  /** Shown in errors. */
  name: string;
  program: string;
  args: string[];
  /** The whole environment of the server; it inherits nothing. */
  env: Record<string, string>;
  /** Default: our own user. */
  uid?: number | undefined;
  gid?: number | undefined;
  /** Part of its output once it serves. */
  readyText: string;
  /** Asks it to stop quickly and cleanly. */
  stopSignal: NodeJS.Signals;
  log?: LogFile | undefined;
  /** False: the server does not keep our event loop alive, so a test file ends with its tests. */
  keepsParentAlive?: boolean | undefined;
}

// Recovery after a kill replays at most max_wal_size (1 GB), which takes most of a minute on a slow disk.
const readyMsMax = 60_000;
const outputTailChars = 4_000; // output shown for a server that did not start

/** Resolves when the server is ready. */
export async function runServer(wanted: ServerProgram): Promise<RunningProcess> {
  const child = spawn(wanted.program, wanted.args, {
    cwd: "/",
    env: wanted.env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // Ctrl-C must reach only the supervisor, which stops servers after their users
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
  if (wanted.keepsParentAlive === false) releaseChild(child);
  return runningProcess(child, exited, wanted.stopSignal);
}

/**
 * A shell that stops the server when its standard input ends, which happens when we are gone, also by kill -9.
 * @returns ends the guard; call it when the server has ended, before its pid can be reused
 */
function guard(pid: number, signal: NodeJS.Signals): () => void {
  const script = `read -r _; kill -s ${signal.slice("SIG".length)} "$0" 2>/dev/null`;
  const shell = spawn("/bin/sh", ["-c", script, String(pid)], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  shell.once("error", () => {}); // without a shell the next start ends the survivor
  shell.stdin.once("error", () => {});
  releaseChild(shell);
  return () => void shell.kill("SIGKILL");
}
