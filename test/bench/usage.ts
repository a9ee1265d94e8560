// What processes have used so far, by their pid, from /proc (Linux); elsewhere nothing is known and 0 is given.
import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100; // USER_HZ, fixed on Linux

/** Of a process and its children, since they began. */
export interface Usage {
  /** User and system time, microseconds. */
  readonly cpuUs: number;
  /** How often each process's threads gave their processor away or lost it, by its pid. */
  readonly switches: ReadonlyMap<number, number>;
  /**
   * System calls that read or wrote, on files and sockets. Those of PostgreSQL on sockets are others (`recv`, `send`),
   * and not counted.
   */
  readonly calls: number;
}

/** Of one request. */
export interface UsageEach {
  readonly cpuUs: number;
  /** Without those of processes that ended meanwhile. */
  readonly switches: number;
  readonly calls: number;
}

/** @param pids by name; the supervisor, which serves nobody, is left out */
export function usageOf(pids: Readonly<Record<string, number>>): Record<string, Usage> {
  const children = childrenByParent();
  return Object.fromEntries(
    Object.entries(pids)
      .filter(([name]) => name !== "supervisor")
      .map(([name, pid]) => [name, [pid, ...(children.get(pid) ?? [])].map(ownUsage).reduce(sumOf)]),
  );
}

/** CPU time so far of each process and its children, microseconds. */
export function cpuOf(pids: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(usageOf(pids)).map(([name, { cpuUs }]) => [name, cpuUs]));
}

/** What each has used between two looks, for one of so many requests. */
export function usageEach(
  before: Readonly<Record<string, Usage>>,
  after: Readonly<Record<string, Usage>>,
  requests: number,
): Record<string, UsageEach> {
  return Object.fromEntries(
    Object.entries(after).map(([name, now]) => {
      const then = before[name];
      const switches = [...now.switches].reduce((sum, [pid, count]) => sum + count - (then?.switches.get(pid) ?? 0), 0);
      return [
        name,
        {
          cpuUs: (now.cpuUs - (then?.cpuUs ?? 0)) / requests,
          switches: switches / requests,
          calls: (now.calls - (then?.calls ?? 0)) / requests,
        },
      ];
    }),
  );
}

/** Resident memory, megabytes. */
export function residentMb(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`));
  return Math.round(Number(line?.[1] ?? 0) / 1_000);
}

/** With the time and calls of children that have ended (PostgreSQL's backends). */
function ownUsage(pid: number): Usage {
  const fields = statOf(pid);
  const ticks = [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i] ?? 0), 0);
  const io = read(`/proc/${pid}/io`);
  const tasks = entriesOf(`/proc/${pid}/task`);
  return {
    cpuUs: (ticks * 1_000_000) / ticksPerSecond,
    switches: new Map([[pid, tasks.reduce((sum, task) => sum + switchesOf(`/proc/${pid}/task/${task}`), 0)]]),
    calls: numberIn(io, /^syscr: (\d+)/m) + numberIn(io, /^syscw: (\d+)/m),
  };
}

function switchesOf(task: string): number {
  const status = read(`${task}/status`);
  return (
    numberIn(status, /^voluntary_ctxt_switches:\s+(\d+)/m) + numberIn(status, /^nonvoluntary_ctxt_switches:\s+(\d+)/m)
  );
}

function sumOf(one: Usage, other: Usage): Usage {
  return {
    cpuUs: one.cpuUs + other.cpuUs,
    switches: new Map([...one.switches, ...other.switches]),
    calls: one.calls + other.calls,
  };
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of entriesOf("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statOf(Number(name))[1] ?? 0);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  return children;
}

/** The fields after the program's name, which may hold anything. */
function statOf(pid: number): string[] {
  return read(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
}

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? 0);
}

function entriesOf(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
