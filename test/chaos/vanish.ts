// `npm run prove -- vanish`: during purchases through the public API, drops the connections of one route after another
// silently, as a lost machine does whose address another one gets. Prints the time until all buyers buy again and all
// events are delivered; exit code 1 when one takes longer than 30 s, a paid order is not delivered, a process was
// restarted, or the books differ.
import { printHelpIfRequested, readOptions } from "../../deploy/local/options.ts";
import { startBuyers } from "./vanish-buyers.ts";
import { startVanishRig } from "./vanish-rig.ts";
import { checkAfterwards, type Recovery, runVanishStep, type Step, steps } from "./vanish-steps.ts";

/** Longest until everything goes on. */
const secondsMax = 30;
const buyersMax = 4;
const usage = `npm run prove -- vanish [--only names]

  --only  steps, separated by commas: ${steps.map(({ name }) => name).join(", ")}; default: all but processor`;

async function runCommand(): Promise<boolean> {
  printHelpIfRequested(usage);
  const all = steps.map(({ name }) => name).filter((name) => name !== "processor");
  const only = readOptions("only").get("only")?.split(",") ?? all;
  const chosen = steps.filter(({ name }) => only.includes(name));
  if (chosen.length < only.length) {
    console.error(`--only takes names of steps\n\n${usage}`);
    process.exit(2);
  }
  const rig = await startVanishRig();
  const buyers = await startBuyers(rig, buyersMax);
  let isLate = false;
  try {
    console.log(`${"dropped".padEnd(22)} connections  bought  delivered  published`);
    for (const step of chosen) {
      const recovery = await runVanishStep(rig, buyers, step);
      isLate ||=
        Math.max(recovery.boughtSeconds, recovery.deliveredSeconds, ...recovery.publishedSeconds.values()) > secondsMax;
      console.log(lineOf(step, recovery));
    }
    const { wrong, delivered, checked } = await checkAfterwards(rig, buyers);
    console.log(`${delivered} paid orders, all delivered; ${checked} payments checked, ${wrong.length} differences`);
    for (const one of wrong) console.log(`DIFFERENCE ${one}`);
    if (isLate) console.log(`a route took longer than ${secondsMax} s`);
    return wrong.length === 0 && !isLate;
  } finally {
    await buyers.close();
    await rig.stop();
  }
}

function lineOf({ name }: Step, { connections, boughtSeconds, deliveredSeconds, publishedSeconds }: Recovery): string {
  const sum = [...connections.values()].reduce((total, one) => total + one, 0);
  const published = [...publishedSeconds].map(([service, seconds]) => `${service} ${seconds.toFixed(1)}`);
  const [bought, delivered] = [boughtSeconds.toFixed(1).padStart(6), deliveredSeconds.toFixed(1).padStart(10)];
  return `${name.padEnd(22)} ${String(sum).padStart(11)}  ${bought} ${delivered}  ${published.join(" · ")}`;
}

if (import.meta.main) process.exit((await runCommand()) ? 0 : 1);
