// Checks after two releases have worked on one database and one broker: every kind of call crossed between them, each
// reads and repeats the other's objects, webhooks came exactly as often as required, no process logged an error, and
// both releases' journal checks pass.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { sources } from "../../services/services.ts";
import { eventually } from "../harness/eventually.ts";
import { isSignedWith, type Receiver } from "../harness/receiver.ts";
import { type Cluster, commandOf, type Release, thisRelease } from "../harness/servers/pods.ts";
import {
  assertRefunded,
  confirmOrder,
  firstRefund,
  orderProduct,
  type Purchase,
  refundOrder,
  type Shop,
  type Shopping,
} from "../harness/shopping.ts";

/** A purchase that later steps use again. */
export interface RevisitedPurchase {
  readonly purchase: Purchase;
  times: number;
}

const laterRefund = 100;
const arriveMsMax = 120_000;

/**
 * Works on every release: the same key returns the same session, a confirm replays, and the payment is refunded
 * further.
 */
export async function visitAgain(shop: Shop, visit: RevisitedPurchase): Promise<void> {
  const { purchase } = visit;
  assert.equal((await orderProduct(shop, purchase.key)).session, purchase.session, "a key's session, repeated");
  assert.equal(await confirmOrder(shop, purchase), purchase.payment, "a confirm, repeated");
  await assertRefunded(shop, purchase.payment, refundedOf(visit));
  await refundOrder(shop, purchase.payment, laterRefund);
  visit.times += 1;
}

function refundedOf({ times }: RevisitedPurchase): number {
  return firstRefund + times * laterRefund;
}

/** Pairs of releases without a call to a service of the other release, or of their own. */
export async function missingCalls(cluster: Cluster, old: Release): Promise<string[]> {
  const missing: string[] = [];
  for (const from of [old, thisRelease])
    for (const to of [old, thisRelease])
      for (const service of sources)
        if ((await cluster.connections(from, to, service)) === 0)
          missing.push(`no call of ${from.name} reached ${service} of ${to.name}`);
  return missing;
}

export interface Rehearsal {
  readonly cluster: Cluster;
  readonly old: Release;
  readonly shop: Shop;
  readonly shopping: Shopping;
  readonly visited: readonly RevisitedPurchase[];
  readonly receiver: Receiver;
  readonly signingSecret: string;
}

/** Problems at the end, as text. */
export async function checkAfterwards(rehearsal: Rehearsal): Promise<string[]> {
  const problems = [...(await webhookProblems(rehearsal)), ...(await errorLines(rehearsal.cluster.dir))];
  for (const visit of rehearsal.visited)
    await assertRefunded(rehearsal.shop, visit.purchase.payment, refundedOf(visit));
  for (const release of [rehearsal.old, thisRelease]) {
    const env = { ...process.env, DATABASE_URL: rehearsal.cluster.databases.of.payments };
    await promisify(execFile)(process.execPath, commandOf(release, "journal-check", ["journal", "check"]), {
      env,
    }).catch((error) => problems.push(`the books do not agree by ${release.name}: ${error.stdout || error.message}`));
  }
  return problems;
}

/**
 * Each refund has one event, and each payment two (by its confirm and by the processor), or one if its refund preceded
 * the processor's report (docs/contract.md, section 9), whichever release sent them.
 */
async function webhookProblems({ shopping, visited, receiver, signingSecret }: Rehearsal): Promise<string[]> {
  const wanted = new Map<string, readonly number[]>();
  const add = (payment: string, refunds: number) =>
    wanted.set(`payment.succeeded ${payment}`, [1, 2]).set(`payment.refunded ${payment}`, [refunds]);
  for (const { payment } of shopping.bought) add(payment, 1);
  for (const { purchase, times } of visited) add(purchase.payment, 1 + times);
  const differences = () => {
    // At least once: a repeated delivery has the same id.
    const deliveries = new Map(receiver.received.map((request) => [request.headers["service-delivery"], request]));
    const came = new Map<string, number>();
    for (const { body } of deliveries.values()) {
      const event = JSON.parse(body.toString());
      const what = `${event.type} ${event.payment_id}`;
      came.set(what, (came.get(what) ?? 0) + 1);
    }
    return [...wanted]
      .filter(([what, times]) => !times.includes(came.get(what) ?? 0))
      .map(([what, times]) => `webhook ${what}: ${came.get(what) ?? 0} times instead of ${times.join(" or ")}`);
  };
  await eventually("every webhook", () => differences().length === 0, { limitMs: arriveMsMax }).catch(() => {});
  const unsigned = receiver.received.filter((request) => !isSignedWith(request, signingSecret)).length;
  return [...differences(), ...(unsigned === 0 ? [] : [`${unsigned} webhooks with a wrong signature`])];
}

/** Error lines of all processes, for example unreadable events, failing statements or failing jobs. */
export async function errorLines(dir: string): Promise<string[]> {
  const logs = (await readdir(dir)).filter((name) => name.endsWith(".log"));
  const lines = await Promise.all(
    logs.map(async (name) =>
      (await readFile(join(dir, name), "utf8"))
        .split("\n")
        .filter((line) => /"level":"(error|fatal)"/.test(line))
        .map((line) => `${name}: ${line.slice(0, 500)}`),
    ),
  );
  return lines.flat();
}
