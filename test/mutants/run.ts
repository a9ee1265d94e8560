// `npm run prove -- mutants`: makes one wrong edit of the money paths after another in a copy of the project; says
// which test kills it, or that it lives: exit code 1. A list of edits and not StrykerJS 10.1.1, which was tried: that
// needs TypeScript's JavaScript API, which TypeScript 7 does not have; its operators blank a whole SQL text, where
// most guarantees stand, and swap no account, phase or lock; docs/mutants.md has the figures.
import { helpIfAsked, parseWords } from "../../deploy/local/options.ts";
import { uncompilable } from "./compile-check.ts";
import { Killers, type Stage, stages } from "./killers.ts";
import { editOf, type Mutant } from "./mutant.ts";
import { mutants } from "./mutants.ts";
import { Report } from "./report.ts";
import { copyProject } from "./scratch.ts";
import { Trials } from "./trials.ts";

const root = new URL("../..", import.meta.url).pathname;
/** What `--until` takes. */
const untils: Readonly<Record<string, Stage>> = { unit: "unit tests", flows: "flow tests", walk: "walk" };
const usage = `npm run prove -- mutants [--only text] [--from N] [--numbers N,N] [--until ${Object.keys(untils).join("|")}] [--tests part,part]

  --list              the list with its numbers, and what each edit breaks
  --only              edits whose line has this text
  --from, --numbers   from a number on, or these
  --until             only the cheaper stages
  --tests             what these tests alone kill
  --despite-failures  while something fails already: what fails without an edit kills none`;
const stops: (() => Promise<void>)[] = [];
let isInterrupted = false;

await main();

/** A mutant with its place in the whole list, which stays the same whatever is chosen. */
interface Numbered {
  readonly number: number;
  readonly mutant: Mutant;
}

interface Choice {
  readonly chosen: readonly Numbered[];
  readonly listOnly: boolean;
  readonly despiteFailures: boolean;
  /** What may kill. */
  readonly used: { readonly stages: readonly Stage[]; readonly parts: readonly string[] };
}

async function main(): Promise<void> {
  const { chosen, listOnly, despiteFailures, used } = readArguments();
  if (listOnly) {
    for (const { number, mutant } of chosen) console.log(`${nameOf(number, mutant)}\n     breaks: ${mutant.breaks}`);
    return;
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"]) process.on(signal, () => void interrupted());
  process.channel?.unref();
  const began = performance.now();
  let good = false;
  try {
    const scratch = await copyProject(root);
    stops.push(() => scratch.remove());
    process.chdir(scratch.root);
    const trials = new Trials(scratch, new Killers(scratch.root, used));
    stops.push(() => trials.stop());
    console.log(`${chosen.length} mutants. Without one:`);
    const files = [...new Set(chosen.map(({ mutant }) => mutant.file))];
    const failing = await trials.baseline(files, console.log);
    for (const one of failing) console.log(`  fails without a mutant: ${one}`);
    if (failing.length > 0 && !despiteFailures) throw new Error("what fails without a mutant can kill none");
    const bad = await uncompilable(chosen.map(({ mutant }) => mutant));
    console.log(`  compiler: ${bad.size} do not compile\n`);
    const report = new Report();
    for (const { number, mutant } of chosen) {
      const error = bad.get(mutant);
      if (error !== undefined) report.doesNotCompile(nameOf(number, mutant), error);
      else await tryOne(trials, number, mutant, report);
    }
    good = report.close((performance.now() - began) / 1_000);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
  } finally {
    await stopAll();
  }
  process.exit(good ? 0 : 1);
}

function readArguments(): Choice {
  helpIfAsked(usage);
  try {
    const options = {
      only: { type: "string" },
      from: { type: "string" },
      numbers: { type: "string" },
      until: { type: "string" },
      tests: { type: "string" },
      list: { type: "boolean" },
      "despite-failures": { type: "boolean" },
    } as const;
    const { values } = parseWords({ options });
    const from = Number(values.from ?? 1);
    const numbers = values.numbers?.split(",").map(Number);
    const last = untils[values.until ?? "walk"];
    if (!last) throw new Error(`--until takes one of ${Object.keys(untils).join(", ")}`);
    const chosen = mutants
      .map((mutant, index) => ({ number: index + 1, mutant }))
      .filter(({ number, mutant }) => number >= from && nameOf(number, mutant).includes(values.only ?? ""))
      .filter(({ number }) => numbers?.includes(number) ?? true);
    if (chosen.length === 0) throw new Error("no mutant is chosen; --list shows them");
    const used = { stages: stages.slice(0, stages.indexOf(last) + 1), parts: values.tests?.split(",") ?? [""] };
    return {
      chosen,
      listOnly: values.list === true,
      despiteFailures: values["despite-failures"] === true,
      used,
    };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

function nameOf(number: number, mutant: Mutant): string {
  return `${String(number).padStart(3)}  ${mutant.file}  ${editOf(mutant)}`;
}

async function tryOne(trials: Trials, number: number, mutant: Mutant, report: Report): Promise<void> {
  const began = performance.now();
  const kill = await trials.tryMutant(mutant);
  report.tried(nameOf(number, mutant), mutant, kill, (performance.now() - began) / 1_000);
}

/** What was started last is stopped first. */
async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop();
}

/** A terminal tells the whole group, and the command that started this one passes it on: it comes twice. */
async function interrupted(): Promise<void> {
  if (isInterrupted) return;
  isInterrupted = true;
  await stopAll();
  process.exit(130);
}
