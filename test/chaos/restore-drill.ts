// The drill: a shop works on while its databases are copied, the databases are reset to the copies, and
// `tollbooth recovery run` rebuilds them, also after a kill, while the merchant repeats all its requests. Then
// everything is compared.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { connectOperator, type OperatorPeers } from "../../deploy/cli/peers.ts";
import { runRecovery } from "../../deploy/cli/recovery/recovery-run.ts";
import { merchantApi } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { alertRules } from "../harness/files/alert-rules.ts";
import type { ReceivedRequest } from "../harness/receiver.ts";
import { inFastMotion, missingPrometheus, type Prometheus, startPrometheus } from "../harness/servers/prometheus.ts";
import { Random } from "./random.ts";
import { type ExpectedOutcome, restoredDifferences, startRepeats } from "./restore-checks.ts";
import { type RestoreRig, type Service, services } from "./restore-rig.ts";
import { type Changes, type Order, prepareChanges, startTraffic } from "./restore-traffic.ts";

export interface DrillOptions {
  readonly seed: number;
  readonly buyers: number;
  /** Orders before the copy, and as many after it. */
  readonly orders: number;
  /** The broker loses all that it has at the same time. */
  readonly withoutBroker: boolean;
  /** How often a recovery is killed before one is let be. */
  readonly kills: number;
  readonly log: (line: string) => void;
}

export interface DrillReport {
  readonly orders: number;
  /** Paid ones that were begun since. */
  readonly lost: number;
  readonly differences: readonly string[];
  /** Rows of the recovery's report. */
  readonly rows: readonly ReportRow[];
  /** Of the alert; undefined: there is no Prometheus. */
  readonly rang: boolean | undefined;
}

export interface ReportRow {
  readonly what: string;
  readonly object: string;
  readonly outcome: string;
  readonly to_do: string;
}

const operator = "drill@example.com";
const ordersMsMax = 120_000;
const alertMsMax = 30_000;
const command = fileURLToPath(new URL("../../deploy/cli/main.ts", import.meta.url));

export async function restoreDrill(rig: RestoreRig, options: DrillOptions): Promise<DrillReport> {
  const { seed, log, withoutBroker } = options;
  const random = new Random(seed);
  const change = await prepareChanges(rig);
  const backedUpAt = new Date();
  const refused = new WeakSet<ReceivedRequest>();
  const { orders, changes } = await traffic(rig, options, random, change, refused);
  await published(rig);
  const prometheus = await alarm(rig);
  try {
    log(`${orders.length} orders; the databases go back${withoutBroker ? ", the broker is empty" : ""}`);
    const requests = orders.flatMap((order) => [order.request, ...order.refunds]);
    // Without events, keys used after the copy are unknown.
    const known = withoutBroker ? requests.filter(({ isLate }) => !isLate) : requests;
    const repeats = await startRepeats(rig, known);
    await rig.goBack(withoutBroker);
    rig.receiver.answer({ status: 200 });
    const wrong: string[] = [];
    if (withoutBroker) await runOperator(rig, ["recovery", "begin", "--by", operator, "--note", "a drill"]);
    await noticed(rig);
    const rang = prometheus && (await rings(prometheus));
    wrong.push(...(await refusals(rig)));
    if (!withoutBroker) wrong.push(...(await endedKeys(rig, changes)));
    if (!withoutBroker) wrong.push(...(await tooEarly(rig)));
    await killedRuns(rig, options, random, backedUpAt);
    const run = await runOperator(rig, ["recovery", "run", "--by", operator, ...sinceOf(options, backedUpAt)]);
    log(run.stderr);
    if (run.code !== 0) wrong.push(`tollbooth recovery run: exit code ${run.code}`);
    const after = await runOperator(rig, ["recovery", "status"]);
    if (after.code !== 0) wrong.push("a service still recovers");
    wrong.push(...(await repeats.end()));
    const wasRefused = (request: ReceivedRequest) => refused.has(request);
    wrong.push(...(await restoredDifferences(rig, { orders, ...lostFor(orders, withoutBroker), wasRefused })));
    if (withoutBroker) wrong.push(...unsaid(run.rows));
    else wrong.push(...(await endedKeys(rig, changes)), ...unnamed(run.rows, changes));
    const lost = orders.filter(({ request, isPaid }) => request.isLate && isPaid).length;
    return { orders: orders.length, lost, differences: wrong, rows: run.rows, rang };
  } finally {
    await prometheus?.stop();
  }
}

/** Half of the orders before the copy, half after it. */
async function traffic(
  rig: RestoreRig,
  { seed, buyers, orders: count }: DrillOptions,
  random: Random,
  change: () => Promise<Changes>,
  refused: WeakSet<ReceivedRequest>,
): Promise<{ orders: readonly Order[]; changes: Changes }> {
  let isLate = false;
  const shop = startTraffic(rig, seed, { buyers, isLate: () => isLate, openShare: 0.15 });
  const reached = async (goal: number) => {
    const enough = eventually(`${goal} orders`, () => shop.orders.length >= goal, { limitMs: ordersMsMax });
    await Promise.race([enough, shop.failed]);
  };
  await reached(count);
  // Backups of four servers are of four moments.
  const order: Service[] = [...services].sort(() => random.next() - 0.5);
  isLate = true;
  // Webhooks that are not delivered before the loss are lost too.
  rig.receiver.answer((request) => {
    if (!random.chance(0.5)) return { status: 200 };
    refused.add(request);
    return { status: 503 };
  });
  await rig.keep(order);
  const changes = await change();
  await reached(shop.orders.length + count);
  await shop.end();
  return { orders: shop.orders, changes };
}

/** Waits until everything committed is published: the rest could not be recovered. */
async function published({ books }: RestoreRig): Promise<void> {
  await eventually(
    "every event to be published",
    async () => {
      const waits = "select from outbox where published_at is null limit 1";
      return (await Promise.all([books.payments.rows(waits), books.checkout.rows(waits)])).flat().length === 0;
    },
    { limitMs: ordersMsMax },
  );
}

/** Every service reports that it recovers. */
async function noticed(rig: RestoreRig): Promise<void> {
  const isRecovering = async () => (await runOperator(rig, ["recovery", "status"])).code === 1;
  await eventually("the services to notice", isRecovering, { limitMs: alertMsMax });
}

async function alarm({ running }: RestoreRig): Promise<Prometheus | undefined> {
  if (missingPrometheus !== undefined) return undefined;
  return await startPrometheus(running.stack.admin, inFastMotion(alertRules("tollbooth")));
}

async function rings(prometheus: Prometheus): Promise<boolean> {
  await eventually("the alert to ring", async () => (await prometheus.firing()).has("TollboothRecovering"), {
    limitMs: alertMsMax,
  });
  return true;
}

/** The recovery does not end while events are missing, and the list gives the reason. */
async function tooEarly(rig: RestoreRig): Promise<string[]> {
  const { code, rows } = await runOperator(rig, ["recovery", "end", "--by", operator, "--note", "too early"]);
  const named = rows.some(({ what, object }) => what.endsWith("events are missing") && object === "payments");
  return code === 1 && named ? [] : [`recovery end answered ${code} and ${rows.length} rows while events are missing`];
}

/** No new work starts. */
async function refusals({ merchant }: RestoreRig): Promise<string[]> {
  const order = { amount: 700, currency: "EUR" };
  const answer = await merchant.post("/v1/checkout-sessions", order, { "idempotency-key": "while-recovering" });
  return answer.status === 503 ? [] : [`a session was begun on a database that recovers: ${answer}`];
}

async function endedKeys({ running }: RestoreRig, { ended }: Changes): Promise<string[]> {
  const wrong: string[] = [];
  for (const key of ended) {
    const answer = await merchantApi(running.stack.gateway, key).get("/v1/payments");
    if (answer.status !== 401) wrong.push(`a key that was ended works again: ${answer.status}`);
  }
  return wrong;
}

/** Runs that end at one of their calls, as if they were killed there. */
async function killedRuns(rig: RestoreRig, options: DrillOptions, random: Random, backedUpAt: Date): Promise<void> {
  const since = options.withoutBroker ? backedUpAt : undefined;
  for (let i = 0; i < options.kills; i++) {
    const peers = await connectOperator({ STATE_DIR: rig.stateDir });
    const calls = random.int(1, 40);
    try {
      await runRecovery(mortal(peers, calls), { by: operator, since }, () => {});
      options.log(`a run needed fewer than ${calls} calls`);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      options.log(`a run was killed at call ${calls}`);
    } finally {
      peers.close();
    }
  }
}

class Killed extends Error {}

/** The same peers, which fail for good from one call on. */
function mortal(peers: OperatorPeers, calls: number): OperatorPeers {
  let left = calls;
  const wrap = (value: object): object =>
    new Proxy(value, {
      get(target, name) {
        const found: unknown = Reflect.get(target, name);
        if (typeof found === "object" && found !== null) return wrap(found);
        if (typeof found !== "function") return found;
        return async (...args: unknown[]) => {
          if (left-- <= 0) throw new Killed();
          return await found.apply(target, args);
        };
      },
    });
  return wrap(peers) as OperatorPeers;
}

function sinceOf({ withoutBroker }: DrillOptions, backedUpAt: Date): string[] {
  return withoutBroker ? ["--since", backedUpAt.toISOString()] : [];
}

/** Objects that cannot be recovered: without events, sessions and payments without moved money. */
function lostFor(
  orders: readonly Order[],
  withoutBroker: boolean,
): Pick<ExpectedOutcome, "isKnownLost" | "isWithoutSession"> {
  const late = orders.filter(({ request }) => withoutBroker && request.isLate);
  const [all, unpaid] = [late, late.filter(({ isPaid }) => !isPaid)].map(
    (some) => new Set(some.map(({ paymentId }) => paymentId)),
  );
  return { isKnownLost: (id) => unpaid?.has(id) === true, isWithoutSession: (id) => all?.has(id) === true };
}

function unnamed(rows: readonly ReportRow[], { lost }: Changes): string[] {
  const named = new Set(rows.filter(({ to_do }) => to_do !== "").map(({ object }) => object));
  return lost.filter((id) => !named.has(id)).map((id) => `${id} was lost, and the report does not name it`);
}

/** Without events the report names, for each service, the data that cannot be recovered. */
function unsaid(rows: readonly ReportRow[]): string[] {
  const reported = new Set(rows.filter(({ outcome }) => outcome === "no events").map(({ object }) => object));
  return services
    .filter((service) => !reported.has(service))
    .map((service) => `the report has no line about the losses of ${service}`);
}

/** The command as a person gives it. */
async function runOperator(
  { stateDir }: RestoreRig,
  words: readonly string[],
): Promise<{ code: number | null; rows: readonly ReportRow[]; stderr: string }> {
  const env = { ...process.env, STATE_DIR: stateDir };
  const child = spawn(process.execPath, [command, ...words, "--json"], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (data: Buffer) => out.push(data));
  child.stderr.on("data", (data: Buffer) => err.push(data));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const text = Buffer.concat(out).toString().trim();
  return { code, rows: text === "" ? [] : JSON.parse(text), stderr: Buffer.concat(err).toString().trim() };
}
