// `npm test` and `npm run test:all`: type check, lint, protos, structure, unit tests, then what needs servers, contract
// and flow tests against one stack. As many processes at once as the machine has room for. It passes only when every
// file proves that all its tests passed; one that needs servers and fails is shown and run again, alone.
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ensureBuilt } from "../deploy/generate/output.ts";
import { endWithUsageError, parseOptions, printHelpIfRequested } from "../deploy/local/options.ts";
import { stackFile } from "../deploy/local/stack-file.ts";
import { type Infra, infraEnvironment, startInfra } from "./harness/infra.ts";
import { secondsSinceLastEnd } from "./harness/run/child-cpu-time.ts";
import { roomWatch } from "./harness/run/machine-load.ts";
import { neededOutputs } from "./harness/run/needed-outputs.ts";
import { type Cost, costTable, keepCosts, keptCosts, longestFirst } from "./harness/run/run-costs.ts";
import { endRuns, type Outcome, runCheck, runTestFile, runTestFiles } from "./harness/run/run-file.ts";
import { type Job, runJobs, type Standing } from "./harness/run/run-jobs.ts";
import {
  batchesOf,
  type GroupName,
  groupNames,
  groupOf,
  rounds,
  type Selection,
  selectFiles,
} from "./harness/run/select-files.ts";
import { shapeOfRun, startTestStack } from "./harness/stack.ts";
import { tempDir } from "./harness/temp-dir.ts";
import { type Tier, tierNames } from "./tiers.ts";

/** At least two files at once; more start while a quarter of the processors is idle. */
const lanes = { least: 2, most: 5, hasRoom: roomWatch({ idleShare: 0.25, freeBytes: 3 * 2 ** 30 }) };
const fileMsMax = 600_000; // against hangs: the slowest file takes four minutes among others
const checkMsMax = 120_000;
/** Files of other projects stay as they came. */
const vendoredProtos = ["buf", "google", "grpc"].map((folder) => `--exclude-path=proto/${folder}`);
const root = new URL("..", import.meta.url).pathname;
/** For the files and for every stack that they start; each would compile everything again. */
const compileCache = `${root}.local-test/compile-cache`;
const costsFile = `${root}.local-test/costs.json`;

const usage = `npm test -- [part of a path …] [--only ${groupNames.join("|")}] [--tier ${tierNames.join("|")}|all] [--no-retry]
npm run test:all
npm run check

npm test runs the quick tier, and with parts of paths every file that has one of them; npm run test:all runs everything;
npm run check is the types, the linter, the protos and the structure.

  --only        one group
  --tier        one tier: quick is what npm test runs, full is the rest
  --no-retry    a file on servers that fails is not run again, alone
  TOLLBOOTH_SHAPE=one  contract and flows use a stack whose parts share one process
  TEST_BACKEND  containers or embedded forces where PostgreSQL and NATS come from; default: what is there`;

const totals = { passed: 0, failed: 0, skipped: 0 };
const flaky: string[] = [];
const costs: Cost[] = [];
/** CPU time of the servers and the stack that files share. */
let sharedCpuSeconds = 0;
/** Of the shared stack. */
let openConsoles: (() => Promise<void>) | undefined;
const stops: (() => Promise<void>)[] = [];

printHelpIfRequested(usage);
await main();

async function main(): Promise<void> {
  const { only, parts, tier, mayRepeat } = readArguments();
  process.chdir(root);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"]) process.once(signal, () => void interrupted());
  process.channel?.unref();
  const began = performance.now();
  const selection = selectFiles(root, parts, tier);
  const hasChecks = parts.length === 0 && tier !== "full";
  const known = keptCosts(costsFile);
  try {
    const chosen = only ? selection[only] : Object.values(selection).flat();
    const isTyped = hasChecks && (only ?? "check") === "check";
    await Promise.all(neededOutputs(root, chosen, isTyped).map((name) => ensureBuilt(name)));
    const environment = { NODE_ENV: "test", NODE_COMPILE_CACHE: compileCache };
    for (const round of rounds) {
      const jobs: Job[] = [];
      for (const group of round) {
        if (only && group !== only) continue;
        jobs.push(...(await jobsOf(group, selection, environment, hasChecks, mayRepeat)));
      }
      if (jobs.length === 0) continue;
      console.log(`\n${only ?? round.join(", ")}`);
      flaky.push(...(await runJobs(longestFirst(jobs, known), lanes, report)));
    }
    if (totals.passed + totals.failed + totals.skipped === 0) fail("no test matches");
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  } finally {
    await stopAll();
  }
  await keepCosts(costsFile, costs);
  if (costs.length > 0) console.log(`\n${costTable(costs).join("\n")}`);
  sharedCpuSeconds += secondsSinceLastEnd() ?? 0;
  const shared = `${sharedCpuSeconds.toFixed(1)} CPU s of the servers and the stack that files share`;
  console.log(`\n${((performance.now() - began) / 1000).toFixed(1)} s, ${shared}`);
  if (flaky.length > 0) console.log(`flaky: ${flaky.length} files passed only when run again: ${flaky.join(", ")}`);
  const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : "";
  console.log(`${totals.passed} passed, ${totals.failed} failed${skipped}`);
  process.exit(totals.failed === 0 ? 0 : 1);
}

interface Arguments {
  readonly only: GroupName | undefined;
  readonly parts: string[];
  /** Undefined: both. */
  readonly tier: Tier | undefined;
  readonly mayRepeat: boolean;
}

function readArguments(): Arguments {
  const options = {
    only: { type: "string" },
    tier: { type: "string" },
    "no-retry": { type: "boolean" },
  } as const;
  const { values, positionals } = parseOptions({ allowPositionals: true, options });
  const only = groupNames.find((group) => group === values.only);
  if (values.only !== undefined && !only) endWithUsageError(`--only takes one of ${groupNames.join(", ")}`);
  const wanted = values.tier ?? (positionals.length > 0 || only ? "all" : "quick");
  const tier = tierNames.find((each) => each === wanted);
  if (!tier && wanted !== "all") endWithUsageError(`--tier takes one of ${tierNames.join(", ")}, all`);
  return { only, parts: positionals, tier, mayRepeat: values["no-retry"] !== true };
}

/** The jobs of a group; servers and the stack are started before the first group that needs them. */
async function jobsOf(
  group: GroupName,
  selection: Selection,
  env: Record<string, string>,
  hasChecks: boolean,
  mayRepeat: boolean,
): Promise<Job[]> {
  const files = selection[group];
  const isOnServers = group === "contract" || group === "flows" || group === "others";
  if (files.length > 0 && isOnServers && !env.TEST_DATABASE_URL) Object.assign(env, await servers());
  if (files.some(sharesStack) && !env.TEST_STACK_FILE) Object.assign(env, await sharedStack(env));
  if (files.some(sharesConsoles)) await openConsoles?.();
  sharedCpuSeconds += secondsSinceLastEnd() ?? 0; // what ended while they started
  // The shared stack may be what made it fail: without one, the file starts its own.
  const { TEST_STACK_FILE: _, ...clean } = env;
  const tests = batchesOf(files).map(
    (names): Job => ({
      names,
      run: (report) => runTestFiles(names, env, fileMsMax, report),
      ...(isOnServers && mayRepeat && { runAgain: (file: string) => runTestFile(file, clean, fileMsMax) }),
    }),
  );
  return group === "check" && hasChecks ? [...checks(), ...tests] : tests;
}

function checks(): Job[] {
  const check = (name: string, command: string, ...args: string[]): Job => ({
    names: [name],
    run: async (report) => report(await runCheck(name, `node_modules/.bin/${command}`, args, checkMsMax)),
  });
  return [
    check("types", "tsc", "--noEmit", "-p", "."),
    check("types of browser code", "tsc", "--noEmit", "-p", "gateway/web"),
    check("types of the docs' code", "tsc", "--noEmit", "-p", "gateway/site"),
    check("lint and format", "biome", "ci", "--colors=off", "--error-on-warnings"),
    check("proto lint", "buf", "lint"),
    check("proto format", "buf", "format", "--diff", "--exit-code", "proto", ...vendoredProtos),
  ];
}

async function servers(): Promise<Record<string, string>> {
  const infra: Infra = await startInfra(console.log);
  stops.push(() => infra.stop());
  console.log(`\nPostgreSQL and NATS: ${infra.kind}`);
  return infraEnvironment(infra);
}

/** Files that use the stack of the run; one that does not may stand there, too. */
function sharesStack(file: string): boolean {
  return /^test\/(contract|flows|browser|proofs)\//.test(file) || sharesConsoles(file);
}

function sharesConsoles(file: string): boolean {
  return file.startsWith("test/console/") && readFileSync(join(root, file), "utf8").includes("sharedConsoles");
}

/** One stack for all that leave its parts alone; its address is passed on as the path of its stack.json. */
async function sharedStack(env: Record<string, string>): Promise<Record<string, string>> {
  const { TEST_DATABASE_URL, TEST_NATS_URL, NODE_COMPILE_CACHE } = env;
  Object.assign(process.env, { TEST_DATABASE_URL, TEST_NATS_URL, NODE_COMPILE_CACHE });
  const stateDir = await tempDir("run");
  const shape = shapeOfRun();
  const running = await startTestStack({ stateDir, shape });
  openConsoles = () => running.openConsoles();
  console.log(`
the stack: ${shape === "one" ? "one process" : "separate processes"}`);
  stops.push(async () => {
    await running.stop();
    await rm(stateDir, { recursive: true, force: true });
  });
  return { TEST_STACK_FILE: stackFile(stateDir) };
}

function report(outcome: Outcome, standing: Standing): void {
  const { name } = outcome;
  const isGood = outcome.failed === 0;
  if (standing === "counts") {
    totals.passed += outcome.passed;
    totals.failed += outcome.failed;
    totals.skipped += outcome.skipped;
  }
  const group = name.endsWith(".test.ts") ? groupOf(name) : "check";
  costs.push({ name, group, seconds: outcome.ms / 1000, cpuSeconds: outcome.cpuSeconds });
  const label = isGood ? "ok  " : standing === "counts" ? "FAIL" : "fail, will be run again:";
  const count = `${outcome.passed}/${outcome.passed + outcome.failed}`;
  const cpu = outcome.cpuSeconds === undefined ? "" : `, ${outcome.cpuSeconds.toFixed(1)} s of CPU`;
  console.log(`  ${label} ${name}  ${count}  ${outcome.ms} ms${cpu}${outcome.problem && `  (${outcome.problem})`}`);
  if (!isGood) console.log(outcome.output.trimEnd().replace(/^/gm, "    | "));
}

function fail(message: string): void {
  totals.failed++;
  console.log(`  FAIL ${message}`);
}

/** Stops in reverse order of the start. */
async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop();
}

async function interrupted(): Promise<void> {
  endRuns();
  await stopAll();
  process.exit(130);
}
