// Runs test files, or one checking command, in a process group of its own with a time limit, and counts what they
// proved.
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { secondsSinceLastEnd } from "./child-cpu-time.ts";

/** The result of one file or command. */
export interface Outcome {
  /** The file's path, or what the command is for. */
  name: string;
  passed: number;
  failed: number;
  skipped: number;
  ms: number;
  /** CPU seconds of its processes and their children; undefined where the system does not report them. */
  cpuSeconds: number | undefined;
  /** Why it counts as failed, beyond its tests; empty when it does not. */
  problem: string;
  /** It was ended at its time limit. */
  isLate: boolean;
  output: string;
}

const outputMax = 2 * 1024 * 1024; // more is a loop that prints; the beginning is enough
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
  const outcomes: Outcome[] = [];
  await runTestFiles([file], env, limitMs, (outcome) => outcomes.push(outcome));
  const [outcome] = outcomes;
  if (!outcome) throw new Error(`${file} has no outcome`);
  return outcome;
}

/**
 * Files one after another in one process. One that crashes or hangs fails alone: those after it run in a new process.
 * A file passes when all its tests did and it has some.
 * @param limitMs for each file
 * @param report called for each file as soon as the next one is done, for the last one at the end of the process
 */
export async function runTestFiles(
  files: readonly string[],
  env: Record<string, string>,
  limitMs: number,
  report: (outcome: Outcome) => void,
): Promise<void> {
  let done = 0;
  const count = (outcome: Outcome) => {
    done++;
    report(outcome);
  };
  while (done < files.length) {
    const left = files.slice(done);
    const output = new FilesOutput(left, count);
    output.end(await runGroup(process.execPath, [runner, ...left], env, limitMs, (text) => output.take(text)));
  }
}

const runner = fileURLToPath(new URL("./run-files.ts", import.meta.url));

/** Begins the line that run-files.ts prints after a file; EndOfFile as JSON follows. */
export const endOfFile = "\u001eend of file ";

export interface EndOfFile {
  readonly file: string;
  readonly isGood: boolean;
  readonly ms: number;
  readonly cpuSeconds: number;
}

/** Reads a process's output about its files. Output at its end belongs to the last file, whose result is delayed. */
class FilesOutput {
  readonly #files: readonly string[];
  readonly #report: (outcome: Outcome) => void;
  #text = "";
  #ended = 0;
  #countedSeconds = 0;
  #held: Outcome | undefined;

  constructor(files: readonly string[], report: (outcome: Outcome) => void) {
    this.#files = files;
    this.#report = report;
  }

  take(text: string): void {
    this.#text += text;
    for (;;) {
      const at = this.#text.indexOf(endOfFile);
      const lineEnd = this.#text.indexOf("\n", at);
      if (at < 0 || lineEnd < 0) return;
      const end: EndOfFile = JSON.parse(this.#text.slice(at + endOfFile.length, lineEnd));
      this.#hold(outcomeOf(end.file, this.#text.slice(0, at), end, end.isGood ? "" : "it failed"));
      this.#text = this.#text.slice(lineEnd + 1);
    }
  }

  /** The first file that the process did not finish has failed; it is the last one of this process. */
  end(ran: Ran): void {
    const seconds = Math.max(0, (ran.cpuSeconds ?? 0) - this.#countedSeconds); // with Node's start and end
    const unfinished = this.#files[this.#ended];
    if (unfinished !== undefined) {
      const cost = { ms: ran.ms, cpuSeconds: seconds, isLate: ran.isLate };
      this.#hold(outcomeOf(unfinished, this.#text, cost, ran.problem || "it ended before its end"));
    } else if (this.#held) {
      const { output, cpuSeconds = 0, failed } = this.#held;
      Object.assign(this.#held, { output: output + this.#text, cpuSeconds: cpuSeconds + seconds });
      if (ran.problem !== "") Object.assign(this.#held, { failed: failed + 1, problem: ran.problem });
    }
    if (this.#held) this.#report(this.#held);
  }

  #hold(outcome: Outcome): void {
    if (this.#held) this.#report(this.#held);
    this.#held = outcome;
    this.#ended++;
    this.#countedSeconds += outcome.cpuSeconds ?? 0;
  }
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
  const isReportedByTests = failures > 0 && !cost.isLate;
  const problem = isReportedByTests ? "" : reason || (total + skipped === 0 ? "no tests ran" : "");
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

/** @param limitMs for the command, or for each file whose end it prints */
function runGroup(
  command: string,
  args: string[],
  env: Record<string, string>,
  limitMs: number,
  onText: (text: string) => void = () => {},
) {
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
      if (output.length > outputMax && !isEnd) return;
      output += text;
      onText(text);
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
