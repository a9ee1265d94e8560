// Which test files a run has: found by where they stand, in groups, and which groups share a queue.
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

/** The group of a test file. */
export function groupOf(file: string): GroupName {
  if (file === "test/tidy.test.ts" || file === "test/documents.test.ts") return "check";
  if (!file.startsWith("test/") || file.startsWith("test/mutants/")) return "unit"; // the list needs no server
  if (file.startsWith("test/contract/")) return "contract";
  return file.startsWith("test/flows/") ? "flows" : "others";
}
