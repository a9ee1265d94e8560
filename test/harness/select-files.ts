// Which test files a run has: found by where they stand, in groups; which groups share a queue, and which files a process.
import { globSync } from "node:fs";

/** `check` has commands besides files. */
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
 */
export function selectFiles(root: string, parts: string[]): Selection {
  const files = ["services", "gateway", "deploy", "test"]
    .flatMap((room) => globSync(`${room}/**/*.test.ts`, { cwd: root }))
    .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part.replace(/^\.\//, ""))))
    .sort();
  const selection: Selection = { check: [], unit: [], contract: [], flows: [], others: [] };
  for (const file of files) selection[groupOf(file)].push(file);
  return selection;
}

/** How many files of a folder share a process. In other folders a file has a process of its own. */
const filesPerProcess: readonly (readonly [folder: string, files: number])[] = [
  ["services/", 40],
  ["gateway/", 40],
  ["deploy/", 40],
  ["test/contract/", 8],
  ["test/flows/", 8],
];

/** Files that share a process, in the order as given. */
export function batchesOf(files: readonly string[]): string[][] {
  const batches: string[][] = [];
  const open = new Map<string, string[]>();
  for (const file of files) {
    const [folder = file, most = 1] = filesPerProcess.find(([prefix]) => file.startsWith(prefix)) ?? [];
    let batch = open.get(folder);
    if (!batch || batch.length === most) {
      batch = [];
      open.set(folder, batch);
      batches.push(batch);
    }
    batch.push(file);
  }
  return batches;
}

/** The group of a test file. */
export function groupOf(file: string): GroupName {
  if (file === "test/tidy.test.ts" || file === "test/documents.test.ts") return "check";
  if (!file.startsWith("test/") || file.startsWith("test/mutants/")) return "unit"; // the list needs no server
  if (file.startsWith("test/contract/")) return "contract";
  return file.startsWith("test/flows/") ? "flows" : "others";
}
