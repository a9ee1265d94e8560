// The CPU share that other processes take during a measurement (Linux): figures of a busy machine must mention it.
import { readFileSync } from "node:fs";
import { cpuOf } from "./usage.ts";

const ticksPerSecond = 100; // USER_HZ, fixed on Linux

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

/** Starts the watch. @returns the share of all cores that was used since, 0 to 1 */
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
