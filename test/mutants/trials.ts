// Runs what may kill mutants in the copy of the project: once without a mutant, which must pass, and then for each
// mutant, stage after stage, until a test fails that did not fail before. PostgreSQL and NATS are started once and
// kept.
import { stripVTControlCharacters } from "node:util";
import { type Infra, infraEnvironment, startInfra } from "../harness/infra.ts";
import { endRuns, killRunning, type Outcome, runCheck, runTestFile } from "../harness/run/run-file.ts";
import { type Killer, type Killers, stages } from "./killers.ts";
import type { Mutant } from "./mutant.ts";
import type { Scratch } from "./scratch.ts";

/** What killed a mutant. */
export interface Kill {
  readonly killer: Killer;
  /** The test that failed, or what else went wrong. */
  readonly why: string;
}

/** What a killer comes to without a mutant. */
interface Standard {
  readonly ms: number;
  readonly failing: ReadonlySet<string>;
}

const parallel = 2; // as `npm test`
// A mutant may make a test wait for what never comes: so much longer than without it, and at least so long.
const patience = 4;
const limitMsMin = 90_000;
const baselineMsMax = 300_000;
// Every test makes databases; a disk holds those of so many mutants.
const mutantsPerServers = 10;

export class Trials {
  readonly #scratch: Scratch;
  readonly #killers: Killers;
  readonly #standards = new Map<string, Standard>();
  #servers: Infra | undefined;
  #served = 0;
  #stopped = false;

  constructor(scratch: Scratch, killers: Killers) {
    this.#scratch = scratch;
    this.#killers = killers;
  }

  /**
   * Everything that may kill a mutant of these files, without one. @returns what fails already: it can kill nothing.
   */
  async baseline(files: readonly string[], say: (line: string) => void): Promise<string[]> {
    const all = new Map(files.flatMap((file) => this.#killers.of(file)).map((killer) => [killer.file, killer]));
    const failing: string[] = [];
    const standard = async (killer: Killer) => {
      let outcome = await this.#start(killer, baselineMsMax);
      if (outcome.failed > 0) outcome = await this.#start(killer, baselineMsMax);
      const names = failuresOf(outcome);
      this.#standards.set(killer.file, { ms: outcome.ms, failing: new Set(names) });
      failing.push(...names.map((name) => `${killer.file}: ${name}`));
      say(`  ${names.length === 0 ? "ok  " : "FAIL"} ${killer.file}  ${outcome.ms} ms`);
    };
    for (const stage of stages) {
      const killers = [...all.values()].filter((killer) => killer.stage === stage);
      if (stage !== "unit tests" && killers.length > 0) await this.#renewServers();
      await sideBySide(killers, standard);
    }
    return failing;
  }

  /** @returns undefined when it lives. */
  async tryMutant(mutant: Mutant): Promise<Kill | undefined> {
    return await this.#scratch.with(mutant, async () => {
      const killers = this.#killers.of(mutant.file);
      for (const stage of stages) {
        const ofStage = killers.filter((killer) => killer.stage === stage);
        if (ofStage.length === 0) continue;
        if (stage === "flow tests" && this.#served++ % mutantsPerServers === 0) await this.#renewServers();
        const kill = await this.#firstKill(stage === "flow tests" ? this.#fastFirst(ofStage) : ofStage);
        if (kill) return kill;
      }
      return undefined;
    });
  }

  /** Ends what runs; nothing is started after it. */
  async stop(): Promise<void> {
    this.#stopped = true;
    endRuns();
    await this.#servers?.stop();
    this.#servers = undefined;
  }

  #fastFirst(killers: readonly Killer[]): Killer[] {
    return killers.toSorted((a, b) => this.#standardOf(a).ms - this.#standardOf(b).ms);
  }

  async #firstKill(killers: readonly Killer[]): Promise<Kill | undefined> {
    const kills: Kill[] = [];
    await sideBySide(killers, async (killer) => {
      if (kills.length > 0) return;
      if ((await this.#newFailure(killer)) === undefined || kills.length > 0) return;
      // A busy machine fails a test now and then: what fails once more was not chance.
      const why = await this.#newFailure(killer);
      // Once there is a kill, the others are ended, and say nothing.
      if (why === undefined || kills.length > 0) return;
      kills.push({ killer, why });
      killRunning();
    });
    return kills[0];
  }

  /** What fails now and did not without the mutant. */
  async #newFailure(killer: Killer): Promise<string | undefined> {
    const { ms, failing } = this.#standardOf(killer);
    const bail = { TEST_BAIL: JSON.stringify([...failing]) };
    const outcome = await this.#start(killer, Math.max(limitMsMin, ms * patience), bail);
    return failuresOf(outcome).find((name) => !failing.has(name));
  }

  #standardOf(killer: Killer): Standard {
    const standard = this.#standards.get(killer.file);
    if (!standard) throw new Error(`${killer.file} was not run without a mutant`);
    return standard;
  }

  #start({ stage, file, args }: Killer, limitMs: number, more: Record<string, string> = {}): Promise<Outcome> {
    // The process is about to end: whoever waits for this waits no longer than that.
    if (this.#stopped) return new Promise(() => {});
    const env = { TMPDIR: this.#scratch.temporary, ...more, ...(this.#servers && infraEnvironment(this.#servers)) };
    if (stage !== "walk") return runTestFile(file, env, limitMs);
    return runCheck(file, process.execPath, [file, ...args], limitMs, env);
  }

  async #renewServers(): Promise<void> {
    await this.#servers?.stop();
    this.#servers = await startInfra(console.log);
  }
}

/** Names of the tests that failed, the walk's differences, or the one problem that there is instead. */
function failuresOf(outcome: Outcome): string[] {
  if (outcome.failed === 0) return [];
  const plain = stripVTControlCharacters(outcome.output);
  const names = [...plain.matchAll(/^\s*FAIL\s+.*?"(.*)"\s*$|^DIFFERENCE (.*)$/gm)].map(
    (match) => match[1] ?? match[2] ?? "",
  );
  return names.length > 0 ? names : [outcome.problem || "it failed"];
}

async function sideBySide(killers: readonly Killer[], work: (killer: Killer) => Promise<void>): Promise<void> {
  const waiting = killers.values();
  const worker = async () => {
    for (const killer of waiting) await work(killer);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}
