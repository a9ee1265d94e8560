// Runs one of our processes as a child: waits until it says that it is ready, keeps its log, and shows its warnings
// shortly. The child ends by itself when we are gone, since its IPC channel closes.
import { fork } from "node:child_process";
import { createInterface } from "node:readline";
import { findRunnable } from "../../bundle/kept-bundle.ts";
import { openLogFile } from "./log-file.ts";
import { warningOf } from "./log-line.ts";
import { becomesReady, exitOf, type RunningProcess, release, runningProcess } from "./running-process.ts";

/** What to run. */
export interface ChildProgram {
  name: string;
  /** Absolute path of its main file. */
  script: string;
  /** Its whole environment. */
  env: NodeJS.ProcessEnv;
  logPath: string;
  /** Shows one line of a warning or an error. */
  warn: (line: string) => void;
  /** False: the child does not keep our event loop alive. */
  keepsParentAlive: boolean;
}

const readyMsMax = 60_000; // it takes half a second alone, 30 s on a machine with ten times the work it can do
const lastWordsMax = 3; // lines of a process that did not start, shown in the error

/** Starts the process and waits until it serves. */
export async function runChild(wanted: ChildProgram): Promise<RunningProcess> {
  const { script, compileCache } = await findRunnable(wanted.script);
  // The program's own path stands in the command line, by which the process is known.
  const child = fork(script, script === wanted.script ? [] : [wanted.script], {
    env: { ...wanted.env, ...(compileCache && { NODE_COMPILE_CACHE: compileCache }) },
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: true, // Ctrl-C reaches the supervisor alone, which stops the processes in order
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
  if (!wanted.keepsParentAlive) release(child);
  return runningProcess(child, exited, "SIGTERM");
}
