// The project's source files and what they import, read as text: what the structure test judges.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** One file of ours. */
export interface SourceFile {
  /** From the root, with forward slashes. */
  path: string;
  text: string;
  /** Files of ours that it imports, as paths from the root, generated ones included. */
  imports: string[];
  /** Files of ours that it starts as processes of their own. */
  starts: string[];
  /** Everything else that it imports: packages and Node's modules. */
  packages: string[];
}

const rooms = ["services", "gateway", "deploy", "test"];
/** `from "x"`, `import "x"` and `import("x")`; names in comments do no harm here. */
const importText = /(?:\bfrom|\bimport)\s*\(?\s*"([^"\n]+)"/g;

/**
 * Files that are started as processes: `new URL("./x.ts", import.meta.url)`, or a whole path from the root as a text.
 */
const startedText = /new URL\(\s*"(\.[^"\n]+\.ts)"|"((?:services|gateway|deploy|test)\/[\w./-]+\.ts)"/g;

/** Reads every TypeScript file outside of generated code. @param root the project's folder */
export function sourceFiles(root: string): SourceFile[] {
  const paths = rooms
    .flatMap((room) => globSync(`${room}/**/*.ts`, { cwd: root }))
    .filter((path) => !path.startsWith("gateway/clients/node/gen/"))
    .sort();
  return paths.map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    const named = [...text.matchAll(importText)].map((match) => match[1] ?? "");
    const ours = named.filter((name) => /^[.#]/.test(name));
    const started = [...text.matchAll(startedText)].map(
      ([, sibling, whole]) => whole ?? resolveImport(path, sibling ?? ""),
    );
    return {
      path,
      text,
      imports: ours.map((name) => resolveImport(path, name)),
      starts: started,
      packages: named.filter((name) => !ours.includes(name)),
    };
  });
}

/** The path of an import from the root, aliases resolved as in package.json. */
function resolveImport(from: string, name: string): string {
  if (name.startsWith("#proto/")) return name.replace("#proto/", "proto/gen/");
  if (name.startsWith("#platform/")) return name.replace("#platform/", "services/platform/");
  return normalize(join(dirname(from), name));
}

/** The files that can be reached from these, themselves included. */
export function reachableFiles(files: SourceFile[], entries: string[]): Set<string> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const seen = new Set<string>();
  const queue = [...entries];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path)) continue; // each file is followed once: the loop ends
    seen.add(path);
    queue.push(...(byPath.get(path)?.imports ?? []), ...(byPath.get(path)?.starts ?? []));
  }
  return seen;
}

/** A cycle of imports; undefined when acyclic. */
export function findCycle(files: SourceFile[]): string[] | undefined {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const finished = new Set<string>();
  const visit = (path: string, chain: string[]): string[] | undefined => {
    if (chain.includes(path)) return [...chain.slice(chain.indexOf(path)), path];
    if (finished.has(path)) return undefined;
    for (const next of byPath.get(path)?.imports ?? []) {
      const cycle = visit(next, [...chain, path]);
      if (cycle) return cycle;
    }
    finished.add(path);
    return undefined;
  };
  for (const file of files) {
    const cycle = visit(file.path, []);
    if (cycle) return cycle;
  }
  return undefined;
}
