// Which tests may kill a mutant of a file, cheapest first: the unit tests that reach the file, the flow tests chosen
// for its part of the money paths, and a walk.
import { globSync } from "node:fs";
import { reachable, type SourceFile, sourceFiles } from "../harness/files/source-files.ts";

export const stages = ["unit tests", "flow tests", "walk"] as const;
export type Stage = (typeof stages)[number];

/** A test file, or the walk. */
export interface Killer {
  readonly stage: Stage;
  /** Path of what Node runs. */
  readonly file: string;
  readonly args: readonly string[];
}

/**
 * The walk is long enough that every story is told some times, and short enough that a survivor costs half a minute.
 */
const walk: Killer = { stage: "walk", file: "test/chaos/walk.ts", args: ["--operations", "300", "--seed", "20260"] };

/**
 * By the beginning of a file's path, the flow tests that are about it. They need PostgreSQL and NATS, and no running
 * stack.
 */
const flowTests: readonly (readonly [prefix: string, ...tests: string[]])[] = [
  ["services/payments/connectors/stripe", "test/connectors/*.test.ts"],
  ["services/payments/connectors/", "test/connectors/*.test.ts", "test/flows/payments/*.test.ts"],
  ["services/payments/", "test/flows/payments/*.test.ts"],
  ["services/checkout/", "test/flows/checkout/*.test.ts"],
  ["services/platform/operate/", "test/flows/*/recovery*.test.ts"],
  [
    "services/platform/",
    "test/flows/platform/*.test.ts",
    "test/flows/checkout/*.test.ts",
    "test/flows/payments/*.test.ts",
  ],
];

export class Killers {
  readonly #root: string;
  readonly #files: SourceFile[];
  readonly #reached = new Map<string, Set<string>>();
  readonly #unitTests: string[];
  readonly #stages: readonly Stage[];
  readonly #parts: readonly string[];

  /** @param root of the project. @param stages and parts of paths that are used; the others kill nothing. */
  constructor(root: string, used: { stages: readonly Stage[]; parts: readonly string[] } = { stages, parts: [""] }) {
    this.#stages = used.stages;
    this.#parts = used.parts;
    this.#root = root;
    this.#files = sourceFiles(root);
    this.#unitTests = globSync("services/**/*.test.ts", { cwd: root }).sort();
  }

  /** Of one file, cheapest stage first. */
  of(file: string): Killer[] {
    const beside = file.replace(/\.ts$/, ".test.ts");
    const units = this.#thatReach(file, this.#unitTests).sort((a, b) => Number(b === beside) - Number(a === beside));
    const [, ...globs] = flowTests.find(([prefix]) => file.startsWith(prefix)) ?? ["", "test/flows/**/*.test.ts"];
    const flows = globs.flatMap((glob) => globSync(glob, { cwd: this.#root }).sort());
    const killer = (stage: Stage) => (path: string) => ({ stage, file: path, args: [] });
    const all = [...units.map(killer("unit tests")), ...this.#thatReach(file, flows).map(killer("flow tests")), walk];
    return all.filter((one) => this.#stages.includes(one.stage) && this.#parts.some((part) => one.file.includes(part)));
  }

  #thatReach(file: string, tests: readonly string[]): string[] {
    return tests.filter((test) => {
      const known = this.#reached.get(test) ?? reachable(this.#files, [test]);
      this.#reached.set(test, known);
      return known.has(file);
    });
  }
}
