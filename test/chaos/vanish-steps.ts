// The steps of the drill, each dropping some connections, and the checks after it.
import { checkBooks } from "../../deploy/cli/health/journal.ts";
import { eventually } from "../harness/eventually.ts";
import type { Buyers } from "./vanish-buyers.ts";
import type { Route, VanishRig } from "./vanish-rig.ts";

// Far beyond what is allowed: a figure is worth more than a failed wait.
const patienceMs = 180_000;
const warmUpPurchases = 12;

/** A step: the connections that it drops. */
export interface Step {
  readonly name: string;
  readonly gone: (route: Route) => boolean;
}

const database = (route: Route) => route.setting === "DATABASE_URL";
const broker = (route: Route) => route.setting === "NATS_URL";
const processor = (route: Route) => route.setting === "SIMULATOR_URL";
const calls = (route: Route) => !database(route) && !broker(route) && !processor(route);

function step(name: string, among: (route: Route) => boolean, of?: string): Step {
  return { name, gone: (route) => among(route) && (of === undefined || route.of === of) };
}

/** The processor is no machine of ours, and of its silence nothing may be concluded: its step is run by name alone. */
export const steps: readonly Step[] = [
  step("postgres", database),
  ...["checkout", "payments", "merchant", "webhook"].map((of) => step(`postgres of ${of}`, database, of)),
  step("nats", broker),
  ...["gateway", "checkout", "payments", "webhook"].map((of) => step(`nats of ${of}`, broker, of)),
  step("calls", calls),
  ...["gateway", "checkout", "payments", "webhook"].map((of) => step(`calls of ${of}`, calls, of)),
  step("processor", processor),
];

/** By its name. */
export function stepOf(name: string): Step {
  const found = steps.find((one) => one.name === name);
  if (!found) throw new Error(`no step is called ${name}`);
  return found;
}

/** The result of a step; seconds since the connections were dropped. */
export interface Recovery {
  /** That vanished, by whose they were. */
  readonly connections: ReadonlyMap<string, number>;
  /** Every buyer has bought something that was begun afterwards. */
  readonly boughtSeconds: number;
  /** All that was paid by then has been published, by service. */
  readonly publishedSeconds: ReadonlyMap<string, number>;
  /** Until every payment made by then is delivered to the merchant. */
  readonly deliveredSeconds: number;
}

/** Lets a step's connections vanish and waits until everything goes on. */
export async function runVanishStep(rig: VanishRig, buyers: Buyers, step: Step): Promise<Recovery> {
  await buyers.more(warmUpPurchases);
  const began = performance.now();
  const connections = rig.vanish(step.gone);
  const since = () => (performance.now() - began) / 1_000;
  const limits = { limitMs: patienceMs };
  await eventually("every buyer to buy again", () => buyers.haveAllBoughtSince(began), limits);
  const boughtSeconds = since();
  const paid = [...buyers.paid];
  const published = buyers.publishers.map(async ({ service, isUpToDate }) => {
    await eventually(`events of ${service} to be published`, isUpToDate, limits);
    return [service, since()] as const;
  });
  await eventually("the deliveries", () => paid.every((payment) => buyers.delivered.has(payment)), limits);
  const deliveredSeconds = since();
  return { connections, boughtSeconds, deliveredSeconds, publishedSeconds: new Map(await Promise.all(published)) };
}

/** The final checks. `wrong` has a sentence for each failure. */
export async function checkAfterwards(
  rig: VanishRig,
  buyers: Buyers,
): Promise<{ wrong: string[]; delivered: number; checked: number }> {
  const wrong: string[] = [];
  await buyers.end();
  await eventually("all deliveries", () => buyers.paid.every((payment) => buyers.delivered.has(payment)), {
    limitMs: patienceMs,
  });
  const checked = await checkBooks({ DATABASE_URL: rig.databaseOf("payments") }, ({ about, differences }) => {
    wrong.push(`${about}: ${differences.join("; ")}`);
  });
  if (checked < buyers.paid.length) wrong.push(`${buyers.paid.length} were paid, and the books know ${checked}`);
  for (const [name, pid] of Object.entries(rig.pidsAtFirst))
    if (rig.running.stack.pids[name] !== pid) wrong.push(`${name} had to be started again`);
  return { wrong, delivered: buyers.paid.length, checked };
}
