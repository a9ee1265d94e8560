// Runs one of our processes as a child: waits until it is ready, writes its log file, and prints its warnings in short.
// The child ends when this process is gone, since its IPC channel closes.
import { fork } from "node:child_process";
import { createInterface } from "node:readline";
import { findRunnable } from "../../bundle/kept-bundle.ts";
import { openLogFile } from "./log-file.ts";
import { warningOf } from "./log-line.ts";
import { becomesReady, exitOf, type RunningProcess, releaseChild, runningProcess } from "./running-process.ts";

export interface ChildProgram {
  name: string;
  /** Absolute path of its main file. */
  script: string;
  /** Its whole environment. */
  env: NodeJS.ProcessEnv;
  logPath: string;
  /** Prints one line of a warning or an error. */
  warn: (line: string) => void;
  /** False: the child does not keep our event loop alive. */
  keepsParentAlive: boolean;
}

const readyMsMax = 60_000; // half a second on an idle machine, 30 s on one with ten times its load
const lastWordsMax = 3; // output lines in the error of a failed start

/** Resolves when the process serves. */
export async function runChild(wanted: ChildProgram): Promise<RunningProcess> {
  const { script, compileCache } = await findRunnable(wanted.script);
  // With the program's own path as an argument the process can be recognised in a process list.
  const child = fork(script, script === wanted.script ? [] : [wanted.script], {
    env: { ...wanted.env, ...(compileCache && { NODE_COMPILE_CACHE: compileCache }) },
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: true, // Ctrl-C must reach only the supervisor, which stops the processes in order
  });
  const log = openLogFile(wanted.logPath);
  child.once("close", () => log.close());
  const lastWords: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    if (!input) continue;
    createInterface({ input }).on("line", (line) => {
      log.write(`${line}\n`);
      const warning = warningOf(line);
      if (warning === undefined) return;
      lastWords.push(warning);
      if (lastWords.length > lastWordsMax) lastWords.shift();
      wanted.warn(warning);
    });
  }
  const exited = exitOf(child);
  await becomesReady(child, {
    name: wanted.name,
    limitMs: readyMsMax,
    exited,
    onReady(notify) {
      child.on("message", (message) => {
        if (typeof message === "object" && message !== null && "ready" in message && message.ready === true) notify();
      });
    },
    lastWords: () => lastWords.join("\n"),
  });
  if (!wanted.keepsParentAlive) releaseChild(child);
  return runningProcess(child, exited, "SIGTERM");
}
