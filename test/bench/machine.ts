// How much of the machine other processes take while something is measured (Linux): figures of a busy machine must say
// so.
import { readFileSync } from "node:fs";
import { cpuOf } from "./usage.ts";

const ticksPerSecond = 100; // USER_HZ, fixed on Linux

/**
 * Begins to watch.
 * @param pids of what is measured; their children count as theirs, and this process is measured too
 * @returns tells the share of all cores that others have taken since, 0 to 1
 */
export function watchOthers(pids: Readonly<Record<string, number>>): () => number {
  const before = { own: own(pids), machine: machine() };
  return () => {
    const now = { own: own(pids), machine: machine() };
    const busy = now.machine.busyUs - before.machine.busyUs - (now.own - before.own);
    return Math.max(0, busy / Math.max(1, now.machine.allUs - before.machine.allUs));
  };
}

/** Begins to watch. @returns tells the share of all cores that anything has taken since, 0 to 1 */
export function watchMachine(): () => number {
  const before = machine();
  return () => {
    const now = machine();
    return (now.busyUs - before.busyUs) / Math.max(1, now.allUs - before.allUs);
  };
}

function own(pids: Readonly<Record<string, number>>): number {
  const { user, system } = process.cpuUsage();
  return Object.values(cpuOf(pids)).reduce((sum, us) => sum + us, user + system);
}

function machine(): { busyUs: number; allUs: number } {
  const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n");
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const all = ticks.reduce((sum, n) => sum + n, 0);
  const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0);
  const us = (n: number) => (n * 1_000_000) / ticksPerSecond;
  return { busyUs: us(all - idle), allUs: us(all) };
}
