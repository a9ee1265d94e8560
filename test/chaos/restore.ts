// `npm run prove -- restore [--seed S]`: under a working shop the databases are reset to copies, to a nightly backup or
// to a standby that lacks the last commits, and `tollbooth recovery run` rebuilds them while the merchant repeats every
// request with its key; `--broker lost` also empties the broker. Then our books, the processor's and the delivered
// events are compared. Exit code 1 on a difference.
import { endWithUsageError, printHelpIfRequested } from "../../deploy/local/options.ts";
import { optionsOf, seedRange } from "../harness/options.ts";
import { missingPrometheus } from "../harness/servers/prometheus.ts";
import { missingPostgres } from "../harness/servers/volume-backup.ts";
import { restoreDrill } from "./restore-drill.ts";
import { type RestoreRig, startBackupRig, startRestoreRig, startStandbyRig } from "./restore-rig.ts";

const usage = `npm run prove -- restore [--seed S] [--orders N] [--buyers B] [--kills K] [--from standby | --from backup | --broker lost]

  --seed    of buyers, backups and kills; default: one by chance, printed
  --orders  that the databases still know, and as many that they lose, 1 to 100000; default 40
  --buyers  how many buy side by side, 1 to 100; default 4
  --kills   how often a recovery is killed before one is let be, 0 to 100; default 5
  --from    what they go back to: \`copy\`, with everything of ours stopped; \`standby\`, which received nothing any more
            when the primary is killed, and takes over under services that run on; or \`backup\`, which the small
            installation's scripts make under traffic and restore into an empty server; default copy
  --broker  \`lost\`: it loses all that it has at the same time`;

printHelpIfRequested(usage);
const { seed, orders, buyers, kills, from, broker } = optionsOf(
  {
    seed: seedRange(),
    orders: { fallback: 40, least: 1, most: 100_000 },
    buyers: { fallback: 4, least: 1, most: 100 },
    kills: { fallback: 5, least: 0, most: 100 },
  },
  "from",
  "broker",
);
const rigs: Readonly<Record<string, () => Promise<RestoreRig>>> = {
  copy: startRestoreRig,
  standby: startStandbyRig,
  backup: startBackupRig,
};
const withoutBroker = broker === "lost";
const start = rigs[from ?? "copy"];
if (!start || (broker !== undefined && !withoutBroker) || (from !== undefined && withoutBroker))
  endWithUsageError(usage);
if (from === "backup" && missingPostgres !== undefined) throw new Error(missingPostgres);
console.log(`restore with seed ${seed}`);
if (missingPrometheus !== undefined) console.log(`the alert is not checked: ${missingPrometheus}`);
const rig = await start();
try {
  const report = await restoreDrill(rig, { seed, orders, buyers, kills, withoutBroker, log: console.log });
  for (const { what, object, outcome, to_do } of report.rows) {
    console.log(`  ${what} ${object} ${outcome}${to_do === "" ? "" : ` — ${to_do}`}`);
  }
  for (const difference of report.differences) console.log(`DIFFERENCE ${difference}`);
  console.log(`\n${report.orders} orders, ${report.lost} paid ones lost and looked for again`);
  console.log(`alert: ${report.rang === undefined ? "not checked" : "rang"}`);
  console.log(`differences: ${report.differences.length}`);
  const numbers = `--seed ${seed} --orders ${orders} --buyers ${buyers} --kills ${kills}`;
  const words = `${from === undefined ? "" : ` --from ${from}`}${withoutBroker ? " --broker lost" : ""}`;
  if (report.differences.length > 0) console.log(`again: npm run prove -- restore ${numbers}${words}`);
  process.exitCode = report.differences.length > 0 ? 1 : 0;
} finally {
  await rig.stop();
}
process.exit();
