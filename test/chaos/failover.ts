// `npm run prove -- failover --minutes N --seed S`: the system on a PostgreSQL primary with a synchronous standby and
// on three brokers, as an operator runs it. Under persistent clients the primary and one broker in turn are killed with
// SIGKILL, the next one only when there are as many as before; then every outcome that any client ever saw is compared
// with all the books. Prints how long nothing was served.
import { printHelpIfRequested, readOptions } from "../../deploy/local/options.ts";
import { chaos, keySeconds } from "./chaos.ts";
import { startChaosRig } from "./chaos-rig.ts";
import type { Disturbance } from "./disturbance.ts";
import { dumpBooks } from "./dump.ts";
import { OutageWatch } from "./outage-watch.ts";
import { replicatedServers, serverNames } from "./servers.ts";

/** No other faults, so that the measured wait is the failover's alone. */
const faults = ["database killed", "broker killed"];

const usage = `npm run prove -- failover [--minutes N] [--every S] [--seed S] [--clients C]

  --minutes  how long, up to 1440; default 10
  --every    seconds from one kill of the primary to the next, 10 to 600; default 30. A broker is killed half-way between
  --seed     of the clients' decisions; default: one by chance, printed
  --clients  how many work side by side, 1 to 100; default 8`;

printHelpIfRequested(usage);
const flags = readOptions("minutes", "every", "seed", "clients");
const minutes = Number(flags.get("minutes") ?? 10);
const everySeconds = Number(flags.get("every") ?? 30);
const seed = Number(flags.get("seed") ?? Math.floor(Math.random() * 1_000_000));
const clients = Number(flags.get("clients") ?? 8);
const isWithin = (n: number, min: number, max: number) => Number.isInteger(n) && n >= min && n <= max;
if (!(minutes > 0 && minutes <= 1_440) || !isWithin(everySeconds, 10, 600)) {
  console.error("--minutes takes more than 0 and at most 1440, --every a whole number from 10 to 600");
  process.exit(2);
}
if (!isWithin(seed, 0, Number.MAX_SAFE_INTEGER) || !isWithin(clients, 1, 100)) {
  console.error("--seed takes a whole number, --clients one from 1 to 100");
  process.exit(2);
}
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => interrupted.abort());
console.log(`failover of ${minutes} minutes, seed ${seed}`);
const rig = await startChaosRig({ SIMULATOR_KEY_SECONDS: String(keySeconds) }, replicatedServers);
const watch = new OutageWatch(
  () => rig.shops.reduce((sum, { seen }) => sum + seen.operations, 0),
  (everySeconds * 1_000) / 2,
);
try {
  const options = { seconds: minutes * 60, seed, clients, only: faults, plan: planOf(minutes * 60) };
  const report = await chaos(rig, {
    ...options,
    onDisturbance: (name) => watch.begin(name),
    log: console.log,
    signal: interrupted.signal,
  });
  for (const difference of report.differences) console.log(`DIFFERENCE ${difference}`);
  console.log(`\n${report.operations} operations on ${report.payments} payments`);
  for (const name of serverNames) console.log(watch.line(`kill ${name}`));
  console.log(`differences: ${report.differences.length}`);
  if (report.differences.length > 0) {
    console.log(
      `again: npm run prove -- failover --minutes ${minutes} --every ${everySeconds} --seed ${seed} --clients ${clients}`,
    );
    console.log(`rows about them: ${await dumpBooks(rig, report.differences)}`);
    process.exitCode = 1;
  }
} catch (error) {
  if (!interrupted.signal.aborted) throw error;
  console.log("interrupted; nothing was compared");
  process.exitCode = 130;
} finally {
  watch.end();
  await rig.stop();
}
process.exit();

/** The primary, a broker half-way to the next, and so on; a third of the time is there to get going. */
function planOf(seconds: number): Disturbance[] {
  const plan: Disturbance[] = [];
  for (let at = everySeconds / 3; at < seconds; at += everySeconds) {
    plan.push({ atMs: at * 1_000, kind: "kill", component: "postgres" });
    if (at + everySeconds / 2 < seconds)
      plan.push({ atMs: (at + everySeconds / 2) * 1_000, kind: "kill", component: "nats" });
  }
  return plan;
}
