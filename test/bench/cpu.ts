// CPU time and memory of processes by their pid, from /proc (Linux); elsewhere nothing is known and 0 is given.
import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100; // USER_HZ, fixed on Linux

/** CPU time so far of each process and its children, microseconds. */
export function cpuOf(pids: Readonly<Record<string, number>>): Record<string, number> {
  const children = childrenByParent();
  const total = (pid: number): number =>
    cpuUs(pid) + (children.get(pid) ?? []).reduce((sum, child) => sum + cpuUs(child), 0);
  return Object.fromEntries(
    Object.entries(pids)
      .filter(([name]) => name !== "supervisor")
      .map(([name, pid]) => [name, total(pid)]),
  );
}

/** Resident memory, megabytes. */
export function residentMb(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`));
  return Math.round(Number(line?.[1] ?? 0) / 1_000);
}

/** User and system time, with that of children that have ended (PostgreSQL's backends). */
function cpuUs(pid: number): number {
  const fields = read(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
  const ticks = [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i] ?? 0), 0);
  return (ticks * 1_000_000) / ticksPerSecond;
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of readDirectory("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(read(`/proc/${name}/stat`).split(") ").at(-1)?.split(" ")[1] ?? 0);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  return children;
}

function readDirectory(path: string): string[] {
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
