// Runs one test file, or one checking command, in a process group of its own with a time limit, and counts what it
// proved.
import { type ChildProcess, spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { secondsSinceLastEnd } from "./child-cpu-time.ts";

/** What one file or command came to. */
export interface Outcome {
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

/**
 * A test file passes when it exits with 0, has tests, and every one of them passed: uvu's exit code alone proves
 * little.
 */
export async function runTestFile(file: string, env: Record<string, string>, limitMs: number): Promise<Outcome> {
  const ran = await runGroup(process.execPath, [file], env, limitMs);
  const plain = stripVTControlCharacters(ran.output);
  const sum = (label: string) =>
    [...plain.matchAll(new RegExp(`^\\s*${label}:\\s+(\\d+)`, "gm"))].reduce(
      (total, match) => total + Number(match[1]),
      0,
    );
  const [total, passed, skipped] = [sum("Total"), sum("Passed"), sum("Skipped")];
  const failed = total - passed;
  const problem = ran.problem || (total + skipped === 0 ? "no tests ran" : "");
  return { ...ran, passed, skipped, problem, failed: problem !== "" && failed === 0 ? 1 : failed };
}

/** A command counts as one test: exit code 0. */
export async function runCheck(
  command: string,
  args: string[],
  limitMs: number,
  env: Record<string, string> = {},
): Promise<Outcome> {
  const ran = await runGroup(command, args, env, limitMs);
  const isGood = ran.problem === "";
  return { ...ran, passed: isGood ? 1 : 0, failed: isGood ? 0 : 1, skipped: 0 };
}

function runGroup(command: string, args: string[], env: Record<string, string>, limitMs: number) {
  return new Promise<Omit<Outcome, "passed" | "failed" | "skipped">>((resolve) => {
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
      if (output.length < outputMax) output += data.toString();
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
