// Runs test files, or one checking command, in a process group of its own with a time limit, and counts what they
// proved.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { secondsSinceLastEnd } from "./child-cpu-time.ts";
import { endOfFile } from "./run-files.ts";

/** What one file or command came to. */
export interface Outcome {
  /** The file's path, or what the command is for. */
  name: string;
  passed: number;
  failed: number;
  skipped: number;
  ms: number;
  /** CPU seconds of its processes, the programs that it started included; undefined where the system does not tell. */
  cpuSeconds: number | undefined;
  /** Why it counts as failed, beyond its tests; empty when it does not. */
  problem: string;
  /** It was ended at its time limit. */
  isLate: boolean;
  output: string;
}

const outputMax = 2 * 1024 * 1024; // more is a loop that prints; the beginning tells enough
const groups = new Set<ChildProcess>();

let isEnded = false;

/** Ends everything that runs now: the whole groups, since tests start servers. */
export function killRunning(): void {
  for (const child of groups) killGroup(child);
}

/** The same for good: nothing begins any more. */
export function endRuns(): void {
  isEnded = true;
  killRunning();
}

/** One file in a process of its own. */
export async function runTestFile(file: string, env: Record<string, string>, limitMs: number): Promise<Outcome> {
  const [outcome] = await runTestFiles([file], env, limitMs);
  if (!outcome) throw new Error(`${file} has no outcome`);
  return outcome;
}

/**
 * Files one after another in one process. One that crashes or hangs fails alone: those after it run in a new process.
 * A file passes when all its tests did and it has some.
 * @param limitMs for each file
 */
export async function runTestFiles(
  files: readonly string[],
  env: Record<string, string>,
  limitMs: number,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  while (outcomes.length < files.length) {
    const left = files.slice(outcomes.length);
    const ran = await runGroup(process.execPath, [runner, ...left], env, limitMs);
    outcomes.push(...outcomesOf(left, ran));
  }
  return outcomes;
}

const runner = join(import.meta.dirname, "run-files.ts");

interface EndOfFile {
  readonly file: string;
  readonly isGood: boolean;
  readonly ms: number;
  readonly cpuSeconds: number;
}

/** What a process's output says of its files, up to the first one that it did not finish. */
function outcomesOf(files: readonly string[], ran: Ran): Outcome[] {
  const [first = "", ...more] = ran.output.split(endOfFile);
  let output = first;
  const outcomes: Outcome[] = [];
  for (const text of more) {
    const lineEnd = text.indexOf("\n");
    const end: EndOfFile = JSON.parse(text.slice(0, lineEnd));
    outcomes.push(outcomeOf(end.file, output, end, end.isGood ? "" : "it failed"));
    output = text.slice(lineEnd + 1);
  }
  const next = files[outcomes.length];
  const last = outcomes.at(-1);
  const seconds = (ran.cpuSeconds ?? 0) - outcomes.reduce((sum, { cpuSeconds = 0 }) => sum + cpuSeconds, 0);
  if (next !== undefined) {
    const cost = { ms: ran.ms, cpuSeconds: Math.max(0, seconds), isLate: ran.isLate };
    outcomes.push(outcomeOf(next, output, cost, ran.problem || "it ended before its end"));
  } else if (last) {
    last.output += output;
    last.cpuSeconds = (last.cpuSeconds ?? 0) + Math.max(0, seconds); // Node's start and end
    if (ran.problem !== "") Object.assign(last, { failed: last.failed + 1, problem: ran.problem });
  }
  return outcomes;
}

function outcomeOf(name: string, output: string, cost: Cost, reason: string): Outcome {
  const plain = stripVTControlCharacters(output);
  const sum = (label: string) =>
    [...plain.matchAll(new RegExp(`^\\s*${label}:\\s+(\\d+)`, "gm"))].reduce(
      (total, match) => total + Number(match[1]),
      0,
    );
  const [total, passed, skipped] = [sum("Total"), sum("Passed"), sum("Skipped")];
  const failures = total - passed;
  const isToldByTests = failures > 0 && !cost.isLate;
  const problem = isToldByTests ? "" : reason || (total + skipped === 0 ? "no tests ran" : "");
  const failed = problem !== "" && failures === 0 ? 1 : failures;
  return { name, output, passed, skipped, failed, problem, isLate: false, ...cost };
}

interface Cost {
  readonly ms: number;
  readonly cpuSeconds: number;
  readonly isLate?: boolean;
}

/** A command counts as one test: exit code 0. */
export async function runCheck(
  name: string,
  command: string,
  args: string[],
  limitMs: number,
  env: Record<string, string> = {},
): Promise<Outcome> {
  const ran = await runGroup(command, args, env, limitMs);
  const isGood = ran.problem === "";
  return { ...ran, name, passed: isGood ? 1 : 0, failed: isGood ? 0 : 1, skipped: 0 };
}

type Ran = Omit<Outcome, "name" | "passed" | "failed" | "skipped">;

/** @param limitMs for the command, or for each file that it says the end of */
function runGroup(command: string, args: string[], env: Record<string, string>, limitMs: number) {
  return new Promise<Ran>((resolve) => {
    if (isEnded) return;
    const began = performance.now();
    const child = spawn(command, args, {
      detached: true, // a group of its own, which can be ended as a whole
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    groups.add(child);
    let output = "";
    let isLate = false;
    let cpuSeconds: number | undefined;
    const read = (data: Buffer) => {
      const text = data.toString();
      const isEnd = text.includes(endOfFile);
      if (isEnd) timer.refresh();
      if (output.length < outputMax || isEnd) output += text;
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    const timer = setTimeout(() => {
      isLate = true;
      killGroup(child);
    }, limitMs);
    const done = (reason: string) => {
      const problem = isLate ? `not done after ${limitMs / 1000} s` : reason;
      clearTimeout(timer);
      groups.delete(child);
      resolve({ ms: Math.round(performance.now() - began), cpuSeconds, problem, isLate, output });
    };
    child.once("exit", () => (cpuSeconds = secondsSinceLastEnd()));
    child.once("error", (error) => done(error.message));
    child.once("close", (code, signal) => done(code === 0 ? "" : signal ? `ended by ${signal}` : `exit code ${code}`));
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // it has ended
  }
}
