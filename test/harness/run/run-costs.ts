// The cost of a run: wall seconds and CPU seconds by group and of the dearest files. A file that waits has many of the
// first and few of the second.
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type GroupName, groupNames } from "./select-files.ts";

/** The cost of one file or command. */
export interface Cost {
  readonly name: string;
  readonly group: GroupName;
  readonly seconds: number;
  /** Undefined where the system does not report it. */
  readonly cpuSeconds: number | undefined;
}

const shownMax = 10;

/** The lines to print: sums by group, then the files that cost most. */
export function costTable(costs: readonly Cost[]): string[] {
  const groups = groupNames.map((group) => costs.filter((cost) => cost.group === group));
  const sums = groups.flatMap((group) => {
    const [first] = group;
    const sum = (of: (cost: Cost) => number) => group.reduce((total, cost) => total + of(cost), 0);
    if (first === undefined) return [];
    return row(
      sum((cost) => cost.seconds),
      sum((cost) => cost.cpuSeconds ?? 0),
      `${first.group} (${group.length})`,
    );
  });
  const cpuOf = ({ cpuSeconds = 0 }: Cost) => cpuSeconds;
  const dearest = costs.toSorted((one, other) => cpuOf(other) - cpuOf(one)).slice(0, shownMax);
  return [
    "       s    CPU s",
    ...sums,
    "  the dearest files:",
    ...dearest.map(({ seconds, cpuSeconds, name }) => row(seconds, cpuSeconds, name)),
  ];
}

function row(seconds: number, cpuSeconds: number | undefined, name: string): string {
  const cells = [seconds.toFixed(1), cpuSeconds?.toFixed(1) ?? "?"];
  return `${cells.map((cell) => cell.padStart(8)).join(" ")}  ${name}`;
}

/** Seconds by name, of the last run of each on this machine. */
export type KeptCosts = Readonly<Record<string, number>>;

/** Costs of earlier runs; empty in a fresh clone. */
export function keptCosts(path: string): KeptCosts {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return {};
  }
}

export async function keepCosts(path: string, costs: readonly Cost[]): Promise<void> {
  const own = Object.fromEntries(costs.map(({ name, seconds }) => [name, seconds]));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify({ ...keptCosts(path), ...own }));
}

/** Longest first, so that no processor waits for the last one. Files without a cost come first, in the given order. */
export function longestFirst<Named extends { names: readonly string[] }>(
  jobs: readonly Named[],
  kept: KeptCosts,
): Named[] {
  const seconds = ({ names }: Named) => names.reduce((sum, name) => sum + (kept[name] ?? Number.POSITIVE_INFINITY), 0);
  return jobs.toSorted((one, other) => (seconds(one) === seconds(other) ? 0 : seconds(other) - seconds(one)));
}
