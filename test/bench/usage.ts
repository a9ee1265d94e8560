// CPU and memory of processes by pid, from /proc (Linux); elsewhere 0. Also the CPU share of other processes, which
// figures of a busy machine must mention.
import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100; // USER_HZ, fixed on Linux

/** CPU time so far of each process and its children, microseconds; without the supervisor, which serves no request. */
export function cpuOf(pids: Readonly<Record<string, number>>): Record<string, number> {
  const children = childrenByParent();
  const sumOf = (pid: number) => [pid, ...(children.get(pid) ?? [])].reduce((sum, each) => sum + cpuUs(each), 0);
  return Object.fromEntries(
    Object.entries(pids)
      .filter(([name]) => name !== "supervisor")
      .map(([name, pid]) => [name, sumOf(pid)]),
  );
}

/** Resident memory, megabytes. */
export function residentMb(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`));
  return Math.round(Number(line?.[1] ?? 0) / 1_000);
}

/** User and system time, with that of children that have ended (PostgreSQL's backends). */
function cpuUs(pid: number): number {
  const fields = statOf(pid);
  const ticks = [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i] ?? 0), 0);
  return (ticks * 1_000_000) / ticksPerSecond;
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
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

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/**
 * Starts the watch.
 * @param pids of the measured processes, in addition to this one; their children are included
 * @returns the share of all cores that other processes used since, 0 to 1
 */
export function watchOthers(pids: Readonly<Record<string, number>>): () => number {
  const before = { own: own(pids), machine: machine() };
  return () => {
    const now = { own: own(pids), machine: machine() };
    const busy = now.machine.busyUs - before.machine.busyUs - (now.own - before.own);
    return Math.max(0, busy / Math.max(1, now.machine.allUs - before.machine.allUs));
  };
}

function own(pids: Readonly<Record<string, number>>): number {
  const { user, system } = process.cpuUsage();
  return Object.values(cpuOf(pids)).reduce((sum, us) => sum + us, user + system);
}

function machine(): { busyUs: number; allUs: number } {
  const [line = ""] = read("/proc/stat").split("\n");
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const all = ticks.reduce((sum, n) => sum + n, 0);
  const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0);
  const us = (n: number) => (n * 1_000_000) / ticksPerSecond;
  return { busyUs: us(all - idle), allUs: us(all) };
}
