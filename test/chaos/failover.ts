// `npm run prove -- failover --minutes N --seed S`: the system on a PostgreSQL primary with a synchronous standby and
// on three brokers, as an operator runs it. Under persistent clients the primary and one broker in turn are killed with
// SIGKILL, the next one only when there are as many as before; then every outcome that any client ever saw is compared
// with all the books. Prints how long nothing was served.
import { printHelpIfRequested } from "../../deploy/local/options.ts";
import { optionsOf, seedRange } from "../harness/options.ts";
import { keySeconds, runChaos } from "./chaos.ts";
import { type ChaosRig, startChaosRig } from "./chaos-rig.ts";
import type { Disturbance } from "./disturbance.ts";
import { replicatedServers, serverNames } from "./servers.ts";

/** No other faults, so that the measured wait is the failover's alone. */
const faults = ["database killed", "broker killed"];

const usage = `npm run prove -- failover [--minutes N] [--every S] [--seed S] [--clients C]

  --minutes  how long, up to 1440; default 10
  --every    seconds from one kill of the primary to the next, 10 to 600; default 30. A broker is killed half-way between
  --seed     of the clients' decisions; default: one by chance, printed
  --clients  how many work side by side, 1 to 100; default 8`;

printHelpIfRequested(usage);
const { minutes, every, seed, clients } = optionsOf({
  minutes: { fallback: 10, least: 0.01, most: 1_440, isFraction: true },
  every: { fallback: 30, least: 10, most: 600 },
  seed: seedRange(),
  clients: { fallback: 8, least: 1, most: 100 },
});
console.log(`failover of ${minutes} minutes, seed ${seed}`);
let rig: ChaosRig | undefined;
const startRig = async () =>
  (rig = await startChaosRig({ SIMULATOR_KEY_SECONDS: String(keySeconds) }, replicatedServers));
const watch = watchOutages(() => rig?.shops.reduce((sum, { seen }) => sum + seen.operations, 0) ?? 0, every * 500);
const plan = planOf(minutes * 60);
await runChaos(
  startRig,
  { seconds: minutes * 60, seed, clients, only: faults, plan, onDisturbance: watch.begin },
  () => {
    for (const name of serverNames) console.log(watch.line(`kill ${name}`));
  },
  `failover --minutes ${minutes} --every ${every} --seed ${seed} --clients ${clients}`,
);
process.exit();

/** The primary, a broker half-way to the next, and so on; a third of the time is there to get going. */
function planOf(seconds: number): Disturbance[] {
  const plan: Disturbance[] = [];
  for (let at = every / 3; at < seconds; at += every) {
    plan.push({ atMs: at * 1_000, kind: "kill", component: "postgres" });
    if (at + every / 2 < seconds) plan.push({ atMs: (at + every / 2) * 1_000, kind: "kill", component: "nats" });
  }
  return plan;
}

/**
 * How long clients got nothing done after each disturbance: the longest pause between two operations that ended.
 * @param operations that have ended so far. @param watchMs how long each disturbance is watched
 */
function watchOutages(operations: () => number, watchMs: number) {
  const outages: { readonly name: string; readonly untilMs: number; longestMs: number }[] = [];
  let [seen, since] = [0, performance.now()];
  setInterval(() => {
    const [now, ended, outage] = [performance.now(), operations(), outages.at(-1)];
    if (outage && now < outage.untilMs) outage.longestMs = Math.max(outage.longestMs, now - since);
    if (ended !== seen) [seen, since] = [ended, now];
  }, 20);
  return {
    begin(name: string) {
      since = performance.now();
      outages.push({ name, untilMs: since + watchMs, longestMs: 0 });
    },
    line(name: string): string {
      const own = outages.filter((outage) => outage.name === name);
      const times = own.map(({ longestMs }) => longestMs / 1_000).sort((a, b) => a - b);
      const [median = 0, longest = 0] = [times[Math.floor(times.length / 2)], times.at(-1)];
      return `${name}: ${times.length} times; nothing served for ${median.toFixed(1)} s (median), ${longest.toFixed(1)} s at most`;
    },
  };
}
