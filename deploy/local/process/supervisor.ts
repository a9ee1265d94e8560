// Keeps the processes of a stack running: restarts one that ends unasked after 0.2 s at first, then after up to 10 s,
// and logs it.
import { setTimeout as pause } from "node:timers/promises";
import { reasonOf } from "../start-error.ts";
import type { RunningProcess } from "./running-process.ts";

export interface ChildSpec {
  name: string;
  /** Resolves when it is ready. */
  start(): Promise<RunningProcess>;
}

export interface Supervisor {
  /** Starts them in parallel and keeps them running. Throws if one does not start. */
  start(...parts: ChildSpec[]): Promise<void>;
  /** Stops them in parallel until `resume`. */
  stop(...names: string[]): Promise<void>;
  /** Starts a stopped one again. */
  resume(name: string): Promise<void>;
  /** Kills it with SIGKILL; resolves when its successor is ready. */
  kill9(name: string): Promise<void>;
  /** Of the running ones. */
  pids(): Record<string, number>;
}

const backoffFirstMs = 200;
const backoffMaxMs = 10_000;
/** After this time a start counts as successful, and the next crash begins with the short pause. */
const healthyMs = 30_000;

interface Entry {
  child: ChildSpec;
  isWanted: boolean;
  running?: RunningProcess;
  /** Ends the pause before a restart. */
  hurry: AbortController;
  /** Settles when the child is no longer wanted and has stopped. */
  life: Promise<void>;
  /** Called at the next successful start. */
  onReady: (() => void)[];
}

/** @param onChange called after each change of the pids */
export function createSupervisor(log: (line: string) => void, onChange: () => void): Supervisor {
  const entries = new Map<string, Entry>();
  const find = (name: string) => {
    const entry = entries.get(name);
    if (!entry) throw new Error(`the stack has no part ${name}: it has ${[...entries.keys()].join(", ")}`);
    return entry;
  };
  const begin = async (entry: Entry) => {
    entry.isWanted = true;
    entry.hurry = new AbortController();
    const first = startOnce(entry);
    entry.life = first.then(
      () => keepRunning(entry, log, onChange),
      () => {},
    );
    await first;
    onChange();
  };
  return {
    async start(...parts) {
      const added = parts.map((child) => {
        const entry = newEntry(child);
        entries.set(child.name, entry);
        return entry;
      });
      const results = await Promise.allSettled(added.map(begin));
      const failed = results.find((result) => result.status === "rejected");
      if (failed) throw failed.reason;
    },
    async stop(...names) {
      await Promise.all(names.filter((name) => entries.has(name)).map((name) => stopEntry(find(name))));
      onChange();
    },
    resume: (name) => begin(find(name)),
    async kill9(name) {
      const entry = find(name);
      const back = new Promise<void>((resolve) => entry.onReady.push(resolve));
      if (!entry.running) throw new Error(`${name} does not run`);
      process.kill(entry.running.pid, "SIGKILL");
      await back;
    },
    pids() {
      const running = [...entries].flatMap(([name, entry]) =>
        entry.running ? [[name, entry.running.pid] as const] : [],
      );
      return Object.fromEntries(running);
    },
  };
}

function newEntry(child: ChildSpec): Entry {
  return { child, isWanted: true, hurry: new AbortController(), life: Promise.resolve(), onReady: [] };
}

async function startOnce(entry: Entry): Promise<void> {
  const running = await entry.child.start();
  entry.running = running;
  void running.exited.then(() => {
    if (entry.running === running) delete entry.running;
  });
  for (const notify of entry.onReady.splice(0)) notify();
}

async function stopEntry(entry: Entry): Promise<void> {
  entry.isWanted = false;
  entry.hurry.abort();
  await entry.running?.stop();
  await entry.life;
}

/** Restarts the child after each end, until it is no longer wanted. */
async function keepRunning(entry: Entry, log: (line: string) => void, onChange: () => void): Promise<void> {
  const { name } = entry.child;
  let backoffMs = backoffFirstMs;
  while (entry.isWanted) {
    const began = performance.now();
    const reason = entry.running ? await entry.running.exited : "did not start";
    if (!entry.isWanted) return;
    onChange();
    if (performance.now() - began > healthyMs) backoffMs = backoffFirstMs;
    log(`${name} stopped (${reason}); starting it again in ${backoffMs / 1000} s`);
    await pause(backoffMs, undefined, { signal: entry.hurry.signal }).catch(() => {});
    backoffMs = Math.min(backoffMs * 2, backoffMaxMs);
    if (!entry.isWanted) return;
    try {
      await startOnce(entry);
      log(`${name} is back (pid ${entry.running?.pid})`);
      onChange();
    } catch (error) {
      log(reasonOf(error));
    }
  }
  await entry.running?.stop(); // it became ready while stopEntry ran
}
