// A child process of the stack: when it is ready, why it ended, how it is asked to stop, with a limit on each wait.
import type { ChildProcess } from "node:child_process";
import { reasonOf } from "../start-error.ts";

/** A running process of the stack, whatever it is. */
export interface RunningProcess {
  pid: number;
  /** Settles when it has ended, with the reason in words. */
  exited: Promise<string>;
  /** Asks it to stop; after the grace time it is killed. */
  stop(): Promise<void>;
}

const stopMsMax = 10_000; // what every process of the stack gets to finish its work

/** Settles when the child has ended, with the reason in words. */
export function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(reasonOf(error)));
    child.once("exit", (code, signal) => resolve(signal ? `ended by ${signal}` : `exit code ${code}`));
  });
}

/** What to wait for. */
export interface Readiness {
  name: string;
  limitMs: number;
  exited: Promise<string>;
  /** Calls back when the child says that it is ready. */
  onReady(notify: () => void): void;
  /** The child's last words, for the error. */
  lastWords(): string;
}

/** Waits until the child is ready; throws with its last words when it ends before, or is late and therefore killed. */
export async function becomesReady(child: ChildProcess, wanted: Readiness): Promise<void> {
  let late: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve, reject) => {
    const fail = (reason: string) =>
      reject(new Error(`${wanted.name} did not start (${reason})\n${wanted.lastWords()}`));
    wanted.onReady(resolve);
    void wanted.exited.then(fail);
    late = setTimeout(() => {
      child.kill("SIGKILL");
      fail(`not ready after ${wanted.limitMs / 1000} s`);
    }, wanted.limitMs);
  }).finally(() => clearTimeout(late));
}

/** The running child. @param signal asks it to stop at once, cleanly */
export function runningProcess(child: ChildProcess, exited: Promise<string>, signal: NodeJS.Signals): RunningProcess {
  return {
    pid: child.pid ?? 0,
    exited,
    async stop() {
      child.ref();
      child.kill(signal);
      const hard = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
      await exited;
      clearTimeout(hard);
    },
  };
}

/** Lets our event loop end while the child runs. Pipes are sockets underneath, which the stream types do not say. */
export function release(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if (stream && "unref" in stream && typeof stream.unref === "function") stream.unref();
  }
}
