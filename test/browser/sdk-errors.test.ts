// What goes wrong in a merchant's page is named by its cause, to the merchant and to the buyer: a policy that lacks a
// host, a backend that tells no secret, a proxy that speaks for the API.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { releaseVersion } from "#platform/values/release.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { browserSuite } from "../harness/browser.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { newOrder } from "./buyer.ts";
import { type Shop, startShop } from "./shop/server.ts";

const test = suite("sdk errors", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
const scriptHost = "https://js.processor.example";
const dist = join(import.meta.dirname, "../../gateway/web/dist/js", releaseVersion());
const timeMs = 1_000;
let running: StackInfo;
let merchant: TestMerchant;
let shop: Shop;

test.before(async () => {
  running = await stack();
  merchant = await freshMerchant(running);
  shop = await startShop(running, merchant, [scriptHost]);
});
test.after(() => shop?.close());

/** Opens the bare page with one more policy, a clock that stands still, and what our own code says in the console. */
async function withPolicy(policy: string, body: (page: Page, readMessages: () => string[]) => Promise<void>) {
  const { context, page } = await inBrowser.open();
  const messages: string[] = [];
  page.on("console", (message) => message.text().startsWith("Tollbooth") && messages.push(message.text()));
  await page.clock.install();
  await page.goto(`${shop.url}/bare?refuses=${encodeURIComponent(policy)}`);
  await page.clock.pauseAt(Date.now() + 60_000);
  try {
    await body(page, () => messages);
  } finally {
    await context.close(); // not `close`, for which the browser's own complaints are a fault
  }
}

const mount = (secret: string) => `globalThis.handle = Tollbooth.create({ sessionSecret: ${JSON.stringify(secret)} });
  globalThis.heard = [];
  handle.on("connection", (heard_) => heard.push(heard_));
  handle.mount("#one").then((result) => { globalThis.result = result; }); undefined`;

/** The result of the mount, by the page's own clock within a second of the refusal. */
async function resultInTime(page: Page): Promise<unknown> {
  const step = timeMs / 10;
  for (let waitedMs = 0; waitedMs < timeMs; waitedMs += step) {
    await page.clock.runFor(step);
    const result = await page.evaluate("globalThis.result");
    if (result) return result;
  }
  assert.fail("nothing was said within a second");
}

async function seeRefused(policy: string, directive: string, host: string, prepare?: (page: Page) => Promise<string>) {
  const { secret } = await newOrder(merchant);
  await withPolicy(policy, async (page, readMessages) => {
    const own = (await prepare?.(page)) ?? secret;
    const firstMessage = page.waitForEvent("console", (message) => message.text().startsWith("Tollbooth"));
    await page.evaluate(mount(own));
    await firstMessage;
    const message = "This payment cannot be made here.";
    const error = { name: "CheckoutError", type: "integration", code: "csp_blocked", message, retryable: false };
    assert.deepEqual(await resultInTime(page), { ok: false, error: { ...error, directive, host } });
    assert.deepEqual(readMessages(), [`Tollbooth: Content-Security-Policy lacks ${directive} ${host}`]);
    assert.deepEqual(await page.evaluate("[handle.state, heard]"), ["failed", []]);
  });
}

/** The session says that its processor draws the fields itself, by the script that is given. */
async function withScript(page: Page, script: string): Promise<string> {
  const order = await newOrder(merchant);
  await page.route(`${scriptHost}/**`, (route) => route.fulfill({ contentType: "text/javascript", body: script }));
  await page.route(`**/v1/checkout/${order.id}?*`, async (route) => {
    const answer = await route.fetch();
    const element = { kind: "element", connector: "stripe", script_url: `${scriptHost}/v3/` };
    const render = { ...element, publishable_key: "pk_test_1", client_secret: "pi_1_secret_2", environment: "sandbox" };
    await route.fulfill({ response: answer, json: { ...(await answer.json()), render } });
  });
  return order.secret;
}

inBrowser.alone("a page whose connect-src lacks Tollbooth hears so within a second, and no buyer is offline", () =>
  seeRefused("connect-src 'self'", "connect-src", running.gateway),
);

inBrowser.alone("a page whose frame-src lacks the processor hears so within a second", () =>
  seeRefused("frame-src 'none'", "frame-src", running.processor),
);

inBrowser.alone("a page whose script-src lacks the processor's script hears so within a second", () =>
  seeRefused(`script-src ${running.gateway}`, "script-src-elem", scriptHost, (page) => withScript(page, "")),
);

inBrowser.alone("a page whose frame-src lacks the fields of the processor's script hears so", () => {
  // As Stripe.js does, which then never says that it is ready.
  const script = `globalThis.Stripe = () => ({ elements: () => ({ create: () => ({ on() {}, destroy() {}, mount(place) {
    place.append(Object.assign(document.createElement("iframe"), { src: "${scriptHost}/fields" })); } }) }) });`;
  return seeRefused("frame-src 'none'", "frame-src", scriptHost, (page) => withScript(page, script));
});

inBrowser.alone("the npm package's loader says which script-src it lacks, and tries no more", async () => {
  await withPolicy("script-src 'self' 'unsafe-eval'", async (page, readMessages) => {
    const loader = readFileSync(join(dist, "loader.mjs"), "utf8");
    const served = { contentType: "text/javascript", body: loader };
    await page.route(`${shop.url}/loader.mjs`, (route) => route.fulfill(served));
    const firstMessage = page.waitForEvent("console", (message) => message.text().startsWith("Tollbooth"));
    const src = JSON.stringify(`${running.gateway}/js/v1/checkout.js`);
    await page.evaluate(`import("/loader.mjs").then(({ loadCheckout }) => loadCheckout({ src: ${src} }))
      .then((checkout) => { globalThis.result = [checkout]; }); undefined`);
    await firstMessage;
    assert.deepEqual(await resultInTime(page), [null]);
    const lack = `script-src-elem ${running.gateway}`;
    assert.deepEqual(readMessages(), [`Tollbooth: Content-Security-Policy lacks ${lack}`]);
  });
});

inBrowser.alone("a policy that only reports breaks nothing, and a dead network is still told as one", async () => {
  const { secret } = await newOrder(merchant);
  const { context, page } = await inBrowser.open();
  const reports = encodeURIComponent("connect-src 'none'; frame-src 'none'");
  await page.goto(`${shop.url}/bare?reports=${reports}`);
  const code = `(async () => {
    globalThis.handle = Tollbooth.create({ sessionSecret: ${JSON.stringify(secret)} });
    return (await handle.mount("#one")).ok;
  })()`;
  assert.equal(await page.evaluate(code), true);
  await context.setOffline(true);
  const offline = await page.evaluate("handle.refresh().then(({ error }) => [error.code, error.directive])");
  assert.deepEqual(offline, ["offline", undefined]);
  await context.close();
});

inBrowser("a secret that cannot be fetched keeps its cause, and the next try fetches it again", async ({ page }) => {
  const { secret } = await newOrder(merchant);
  await page.goto(`${shop.url}/bare`);
  const [failed, mounted] = await page.evaluate<[unknown, unknown]>(`(async () => {
    const cause = new TypeError("the shop's backend did not answer");
    let tries = 0;
    const sessionSecret = async () => { if (++tries === 1) throw cause; return ${JSON.stringify(secret)}; };
    const handle = Tollbooth.create({ sessionSecret });
    const told = [];
    handle.on("error", (error) => told.push(error));
    const first = await handle.mount("#one");
    const { code, type, retryable, message } = first.error;
    const isKept = first.error.cause === cause && told[0]?.cause === cause;
    const failed = { code, type, retryable, message, isKept, state: handle.state };
    const second = await handle.mount("#one");
    return [failed, { ok: second.ok, state: handle.state, tries, frames: document.querySelectorAll("iframe").length }];
  })()`);
  const message = "The payment form could not be loaded. Please try again.";
  const error = { code: "secret_unavailable", type: "load", retryable: true, message };
  assert.deepEqual(failed, { ...error, isKept: true, state: "failed" });
  assert.deepEqual(mounted, { ok: true, state: "ready", tries: 2, frames: 1 });
});

inBrowser("an answer that is not the API's is trouble of the server, not of the buyer's line", async ({ page }) => {
  const { secret, id } = await newOrder(merchant);
  await page.goto(`${shop.url}/bare`);
  const headers = { "access-control-allow-origin": "*" };
  const proxy = { status: 502, contentType: "text/html", headers, body: "<h1>Bad gateway</h1>" };
  await page.route(`**/v1/checkout/${id}?*`, (route) => route.fulfill(proxy));
  const code = await page.evaluate(
    `Tollbooth.create({ sessionSecret: ${JSON.stringify(secret)} }).load().then(({ error }) => error.code)`,
  );
  assert.equal(code, "server_error");
});

test.run();
