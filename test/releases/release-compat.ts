// `npm run prove -- release-compat [tag or commit]`: rehearses an update from the previous release and its rollback,
// with buyers and a merchant at work on one database and one broker: the new schema under the old code, both releases,
// the new one alone, both again, the old one alone. No request may fail, every webhook arrives, and both releases'
// books agree.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Agent, setGlobalDispatcher } from "undici";
import { printHelpIfRequested, refuseExtraArguments } from "../../deploy/local/options.ts";
import { merchantApi } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { sharedInfra } from "../harness/infra.ts";
import { startReceiver } from "../harness/receiver.ts";
import {
  type Cluster,
  type Release,
  type Service,
  services,
  startCluster,
  thisRelease,
} from "../harness/servers/pods.ts";
import { buyProduct, goShopping, type Order, orderProduct, type Purchase, type Shop } from "../harness/shopping.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { checkAfterwards, errorLines, missingCalls, type RevisitedPurchase, visitAgain } from "./checks.ts";
import { findEarlier, NoEarlierRelease, UnknownReference, unpackRelease } from "./earlier-release.ts";

const shoppers = 4;
/** Purchases per step, and those that all later steps use again. */
const purchasesEach = 24;
const visitedEach = 3;
const wayBack = "both again, on the way back";
/** Connections end by their age, so every process comes to call both releases. */
const callsMsMax = 120_000;
const wanted = ["payment.succeeded", "payment.refunded"];

// Like a proxy that knows how long a stopping replica still answers (docs/production.md).
setGlobalDispatcher(new Agent({ keepAliveTimeout: 1_000, keepAliveMaxTimeout: 1_000 }));

const usage = `npm run prove -- release-compat [tag or commit of the release before]

Migrates under the earlier release, runs both side by side and goes back, with a shop at work; default: the newest tag.
What docs/update.md asks to stop for the migration of 0.1.0 or 0.2.0 is stopped; the shop opens then.`;
printHelpIfRequested(usage);
const [revision, ...more] = process.argv.slice(2);
refuseExtraArguments(revision?.startsWith("-") ? [revision] : more, usage);
const folder = await tempDir("release");
try {
  const found = await findEarlier(thisRelease.root, revision);
  console.log(`from ${found.name} (${found.commit.slice(0, 7)}) to this release and back`);
  await rehearse(await unpackRelease(thisRelease.root, found, folder, console.log));
} catch (error) {
  if (error instanceof NoEarlierRelease)
    console.log(`skipped: ${error.message}; or name one: npm run prove -- release-compat <commit>`);
  else if (error instanceof UnknownReference) console.error(error.message);
  else console.error(error);
  process.exitCode = error instanceof NoEarlierRelease ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exit();

async function rehearse(old: Release): Promise<void> {
  const began = performance.now();
  const cluster = await startCluster(1, old);
  const receiver = await startReceiver(cluster.tls);
  let step = "the start";
  try {
    const shop: Shop = { url: cluster.url, merchant: merchantApi(cluster.url, cluster.apiKey) };
    const hook = await shop.merchant.post("/v1/merchants/me/webhooks", { url: receiver.url, event_types: wanted });
    const signingSecret = hook.expect(201).text("signing_secret");
    const stopping = await stoppedToMigrate(old);
    if (stopping.length > 0) {
      // Gives the connections plans of the old tables. The first step repeats the migration, which changes nothing.
      for (let i = 1; i <= shoppers; i++) await buyProduct(shop, await orderProduct(shop, `before-${i}`));
      for (const service of stopping) await cluster.end(service, old);
      await cluster.migrate(thisRelease);
      for (const service of stopping) await cluster.add(service, old);
    }
    const shopping = goShopping(shop, shoppers);
    const visited: RevisitedPurchase[] = [];
    const left: Order[] = [];
    const noCallMissing = async () => (await missingCalls(cluster, old)).length === 0;
    for (const [name, change] of steps(cluster, old).slice(stopping.length > 0 ? 1 : 0)) {
      step = name;
      await change();
      // Each step completes and reads objects of the previous one; later steps do so for its own.
      const finished: Purchase[] = [];
      for (const made of left.splice(0)) finished.push(await buyProduct(shop, made));
      for (const visit of visited) await visitAgain(shop, visit);
      const from = shopping.bought.length;
      await shopping.more(purchasesEach);
      if (name === wayBack)
        await eventually("calls between both", noCallMissing, { limitMs: callsMsMax }).catch(() => {});
      const fresh = [...finished, ...shopping.bought.slice(from, from + visitedEach)];
      visited.push(...fresh.map((purchase) => ({ purchase, times: 0 })));
      left.push(await orderProduct(shop, name));
      console.log(`  ${name.padEnd(44)} ${shopping.bought.length - from} purchases, 0 failed`);
    }
    await shopping.end();
    const rehearsal = { cluster, old, shop, shopping, visited, receiver, signingSecret };
    // 0.1.0 logs that it resets consumers which this release has tuned.
    const expected = (problem: string) =>
      stopping.includes("payments") && problem.includes("consumer configuration differed: repaired");
    const problems = [...(await missingCalls(cluster, old)), ...(await checkAfterwards(rehearsal))].filter(
      (problem) => !expected(problem),
    );
    for (const problem of problems.slice(0, 10)) console.log(`PROBLEM ${problem}`);
    const seconds = ((performance.now() - began) / 1_000).toFixed(0);
    console.log(`${shopping.bought.length} purchases of 8 requests each in ${seconds} s: ${problems.length} problems`);
    if (problems.length > 0) process.exitCode = 1;
  } catch (error) {
    console.log(`FAILED at: ${step}`);
    for (const line of (await errorLines(cluster.dir)).slice(0, 10)) console.log(`  ${line}`);
    throw error;
  } finally {
    await receiver.close();
    await cluster.stop();
    await (await sharedInfra()).stop();
  }
}

/** Connections of these releases keep plans of the tables before the migration, and fail after it (docs/update.md). */
async function stoppedToMigrate({ root }: Release): Promise<readonly Service[]> {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  if (version === "0.1.0") return services;
  return version === "0.2.0" ? ["webhook"] : [];
}

/** An update and its rollback: each step with its change. */
function steps(cluster: Cluster, old: Release): [string, () => Promise<void>][] {
  const add = async (release: Release) => {
    for (const service of services) await cluster.add(service, release);
  };
  const end = (release: Release) =>
    Promise.all(services.map((service) => cluster.end(service, release))).then(() => {});
  return [
    ["the release before, on its own schema", async () => {}],
    ["migrated: the release before on this schema", () => cluster.migrate(thisRelease)],
    ["both releases side by side", () => add(thisRelease)],
    ["this release alone", () => end(old)],
    [wayBack, () => add(old)],
    ["the release before alone again", () => end(thisRelease)],
  ];
}
