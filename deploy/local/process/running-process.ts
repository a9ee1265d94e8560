// A child process of the stack: readiness, exit reason and stopping, each wait with a time limit.
import type { ChildProcess } from "node:child_process";
import { reasonOf } from "../start-error.ts";

export interface RunningProcess {
  pid: number;
  /** Settles with the exit reason. */
  exited: Promise<string>;
  /** Sends the stop signal, and SIGKILL after the grace time. */
  stop(): Promise<void>;
}

const stopMsMax = 10_000; // grace time of every process of the stack

/** Settles with the exit reason. */
export function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(reasonOf(error)));
    child.once("exit", (code, signal) => resolve(signal ? `ended by ${signal}` : `exit code ${code}`));
  });
}

export interface Readiness {
  name: string;
  limitMs: number;
  exited: Promise<string>;
  /** Calls back when the child reports that it is ready. */
  onReady(notify: () => void): void;
  /** The child's last output, for the error. */
  lastWords(): string;
}

/** Resolves when the child is ready. Throws with its last output if it ends first; kills it at the time limit. */
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

/** @param signal asks the child to stop cleanly */
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

/** Lets our event loop end while the child runs. Pipes are sockets underneath, which the stream types do not show. */
export function releaseChild(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if (stream && "unref" in stream && typeof stream.unref === "function") stream.unref();
  }
}
