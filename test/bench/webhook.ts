// The benchmark of webhook delivery: sustained throughput, latency from commit to receiver, what 200 dead endpoints do
// to healthy ones, memory under hostile receivers, and a claim with a million queued deliveries. Each phase has a stack
// of its own and a time limit; one table at the end. Usage: npm run bench -- webhooks [-- --only
// throughput,latency,memory,claim] [-- --short]
import { setTimeout as pause } from "node:timers/promises";
import { parseOptions, printHelpIfRequested } from "../../deploy/local/options.ts";
import { watchOthers } from "./usage.ts";
import { claim } from "./webhook-claim.ts";
import { latency } from "./webhook-latency.ts";
import { memory } from "./webhook-memory.ts";
import { type Phase, type Report, startRig } from "./webhook-rig.ts";
import { throughput } from "./webhook-throughput.ts";

const phases: Readonly<Record<string, Phase>> = { throughput, latency, memory, claim };
// For trying out that everything runs; such figures mean nothing.
const shortShare = 0.1;
// Stopping the servers takes a second or two; one that does not stop must not keep the table back.
const stopMaxMs = 20_000;

printHelpIfRequested(`npm run bench -- webhooks [--only ${Object.keys(phases).join(",")}] [--short]

  --only   phases; default: all
  --short  tries out that everything runs; such figures mean nothing`);
const { values: options } = parseOptions({
  options: { only: { type: "string", multiple: true }, short: { type: "boolean", default: false } },
});
const chosen = options.only?.flatMap((names) => names.split(",")) ?? Object.keys(phases);
for (const name of chosen) {
  if (phases[name]) continue;
  console.error(`--only ${name}: the phases are ${Object.keys(phases).join(", ")}`);
  process.exit(2);
}

const startedAt = performance.now();
const rows: [string, string][] = [];
const log = (text: string) =>
  console.error(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${text}`);

for (const name of chosen) {
  const phase = phases[name];
  if (phase) await measure(name, phase);
}
if (rows.length > 0) {
  const width = Math.max(...rows.map(([what]) => what.length)) + 2;
  console.log(["", ...rows.map(([what, value]) => what.padEnd(width) + value)].join("\n"));
}
// Ends the open connections of an interrupted phase.
process.exit();

async function measure(name: string, phase: Phase): Promise<void> {
  log(`${name}: starting its stack`);
  const rig = await startRig(phase.serviceEnv);
  const deadline = AbortSignal.timeout(phase.limitSeconds * 1_000);
  const others = watchOthers(rig.pids);
  const report: Report = {
    row: (what, value) => {
      rows.push([what, value]);
      log(`${name}: ${what}: ${value}`);
    },
    progress: (text) => log(`${name}: ${text}`),
    deadline,
    share: options.short ? shortShare : 1,
  };
  try {
    await Promise.race([phase.run(rig, report), over(deadline)]);
  } catch (error) {
    process.exitCode = 1;
    if (deadline.aborted) report.row(`${name} did not end`, `given up after ${phase.limitSeconds} s`);
    else report.row(`${name} failed`, error instanceof Error ? error.message : String(error));
  } finally {
    report.row(`  (other processes during ${name})`, `${Math.round(others() * 100)} % of the machine`);
    const isStopped = await Promise.race([rig.stop().then(() => true), pause(stopMaxMs, false, { ref: false })]);
    if (!isStopped) log(`${name}: its stack did not stop`);
  }
}

async function over(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  throw signal.reason;
}
