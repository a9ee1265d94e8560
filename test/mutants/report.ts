// What `npm run prove -- mutants` prints: each mutant as it is done, and at the end those that live and the sums.
import { type Stage, stages } from "./killers.ts";
import type { Mutant } from "./mutant.ts";
import type { Kill } from "./trials.ts";

export class Report {
  readonly #killed: Record<Stage, number> = { "unit tests": 0, "flow tests": 0, walk: 0 };
  readonly #bad: string[] = [];
  readonly #reasoned: string[] = [];
  readonly #live: string[] = [];
  readonly #numbers: number[] = [];

  doesNotCompile(name: string, error: string): void {
    this.#bad.push(name);
    console.log(`${name}\n     BAD: it does not compile: ${error}`);
  }

  tried(name: string, mutant: Mutant, kill: Kill | undefined, seconds: number): void {
    const took = `${seconds.toFixed(1)} s`;
    if (kill) {
      const { stage, file } = kill.killer;
      this.#killed[stage]++;
      console.log(`${name}\n     killed by ${stage}, ${file}: ${kill.why}  ${took}`);
      if (mutant.cannotMatter) console.log("     and it was said that it cannot matter: take the reason away");
      return;
    }
    const told = `${name}\n     breaks: ${mutant.breaks}`;
    if (mutant.cannotMatter) {
      this.#reasoned.push(`${told}\n     cannot matter: ${mutant.cannotMatter}`);
      console.log(`${name}\n     lives and cannot matter: ${mutant.cannotMatter}  ${took}`);
      return;
    }
    this.#live.push(told);
    this.#numbers.push(Number.parseInt(name, 10));
    console.log(`${told}\n     LIVES  ${took}`);
  }

  /** @returns true when none lives without a reason, and each compiles. */
  close(seconds: number): boolean {
    const killed = stages.map((stage) => `${this.#killed[stage]} by ${stage}`).join(", ");
    const all = stages.reduce((sum, stage) => sum + this.#killed[stage], 0);
    for (const one of this.#reasoned) console.log(`\nlives, with a reason:\n${one}`);
    for (const one of this.#live) console.log(`\nLIVES:\n${one}`);
    if (this.#numbers.length > 0) console.log(`\nagain: npm run prove -- mutants --numbers ${this.#numbers.join(",")}`);
    console.log(
      `\n${seconds.toFixed(0)} s: ${all} killed (${killed}), ${this.#reasoned.length} live with a reason, ` +
        `${this.#live.length} live, ${this.#bad.length} do not compile`,
    );
    return this.#live.length === 0 && this.#bad.length === 0;
  }
}
