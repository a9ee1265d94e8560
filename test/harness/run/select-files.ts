// Which test files a run has: found by where they stand, in groups; which groups share a queue, and which files share a
// process.
import { globSync } from "node:fs";
import { dirname } from "node:path";
import { type Tier, tierOf } from "../../tiers.ts";

/** `check` also has commands. */
export const groupNames = ["check", "unit", "contract", "flows", "others"] as const;
export type GroupName = (typeof groupNames)[number];

/**
 * The order of a run; the groups of a round share one queue. Files on whole stacks and in browsers take longest: they
 * come first, so that short ones fill the end and no processor waits for the last of a group.
 */
export const rounds: readonly (readonly GroupName[])[] = [
  ["check", "unit"],
  ["others", "flows", "contract"],
];

/** Test files by group, paths from the root. */
export type Selection = Record<GroupName, string[]>;

/**
 * @param root the project's folder
 * @param parts keeps the files whose path contains one of these; none: all
 * @param tier keeps its files; undefined: all
 */
export function selectFiles(root: string, parts: string[], tier?: Tier): Selection {
  const files = testFiles(root)
    .filter((file) => parts.length === 0 || parts.some((pattern) => file.includes(pattern.replace(/^\.\//, ""))))
    .filter((file) => tier === undefined || tierOf(file) === tier);
  const selection: Selection = { check: [], unit: [], contract: [], flows: [], others: [] };
  for (const file of files) selection[groupOf(file)].push(file);
  return selection;
}

/** Every test file, paths from the root. */
export function testFiles(root: string): string[] {
  return ["services", "gateway", "deploy", "test"]
    .flatMap((room) => globSync(`${room}/**/*.test.ts`, { cwd: root }))
    .sort();
}

/** Number of files that share a process: unit tests of any folder, others of one folder. */
const filesPerProcess: readonly (readonly [beginning: string, files: number])[] = [
  ["services/", 40],
  ["gateway/", 40],
  ["deploy/", 40],
  ["test/contract/", 8],
  ["test/flows/", 8],
  ["test/connectors/", 8],
  ["test/manifests/", 12],
  ["test/chaos/", 8],
  ["test/harness/", 8],
  ["test/states/", 8],
  ["test/bench/", 8],
  ["test/browser/", 5],
  ["test/console/", 4],
];

/** Files that share a process, in the order as given. */
export function batchesOf(files: readonly string[]): string[][] {
  const batches: string[][] = [];
  const open = new Map<string, string[]>();
  for (const file of files) {
    const [beginning, most = 1] = filesPerProcess.find(([each]) => file.startsWith(each)) ?? [];
    const sharers = beginning?.startsWith("test/") ? dirname(file) : (beginning ?? file);
    let batch = open.get(sharers);
    if (!batch || batch.length === most) {
      batch = [];
      open.set(sharers, batch);
      batches.push(batch);
    }
    batch.push(file);
  }
  return batches;
}

/** The group of a test file. */
export function groupOf(file: string): GroupName {
  if (["test/tidy.test.ts", "test/language.test.ts", "test/documents.test.ts"].includes(file)) return "check";
  if (!file.startsWith("test/")) return "unit";
  if (file.startsWith("test/contract/")) return "contract";
  return file.startsWith("test/flows/") ? "flows" : "others";
}
