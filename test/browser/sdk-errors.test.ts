// The SDK names the cause of errors in a merchant's page: a policy that lacks a host, a backend without a secret, a
// proxy that answers instead of the API.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { releaseVersion } from "#platform/values/release.ts";
import { newOrder } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const scriptHost = "https://js.processor.example";
const { test, inBrowser, site } = pageSuite("sdk errors", { shop: [scriptHost] });
const dist = join(import.meta.dirname, "../../gateway/web/dist/js", releaseVersion());
const timeMs = 1_000;

/** Opens the bare page with one more policy and a paused clock, and records our console messages. */
async function withPolicy(policy: string, body: (page: Page, readMessages: () => string[]) => Promise<void>) {
  const { context, page } = await inBrowser.open();
  const messages: string[] = [];
  page.on("console", (message) => message.text().startsWith("Tollbooth") && messages.push(message.text()));
  await page.clock.install();
  await page.goto(`${site.shop.url}/bare?refuses=${encodeURIComponent(policy)}`);
  await page.clock.pauseAt(Date.now() + 60_000);
  try {
    await body(page, () => messages);
  } finally {
    await context.close(); // `close` would fail on the expected policy errors
  }
}

const mount = (secret: string) => `globalThis.handle = Tollbooth.create({ sessionSecret: ${JSON.stringify(secret)} });
  globalThis.connections = [];
    handle.on("connection", (event) => connections.push(event));
  handle.mount("#one").then((result) => { globalThis.result = result; }); undefined`;

/** The mount's result within a second of the page's clock. */
async function resultInTime(page: Page): Promise<unknown> {
  const step = timeMs / 10;
  for (let waitedMs = 0; waitedMs < timeMs; waitedMs += step) {
    await page.clock.runFor(step);
    const result = await page.evaluate("globalThis.result");
    if (result) return result;
  }
  assert.fail("no result within a second");
}

async function seeRefused(policy: string, directive: string, host: string, prepare?: (page: Page) => Promise<string>) {
  const { secret } = await newOrder(site.merchant);
  await withPolicy(policy, async (page, readMessages) => {
    const own = (await prepare?.(page)) ?? secret;
    const firstMessage = page.waitForEvent("console", (message) => message.text().startsWith("Tollbooth"));
    await page.evaluate(mount(own));
    await firstMessage;
    const message = "This payment cannot be made here.";
    const error = { name: "CheckoutError", type: "integration", code: "csp_blocked", message, retryable: false };
    assert.deepEqual(await resultInTime(page), { ok: false, error: { ...error, directive, host } });
    assert.deepEqual(readMessages(), [`Tollbooth: Content-Security-Policy lacks ${directive} ${host}`]);
    assert.deepEqual(await page.evaluate("[handle.state, connections]"), ["failed", []]);
  });
}

/** Changes the session's render to kind `element` with the given script. */
async function withScript(page: Page, script: string): Promise<string> {
  const order = await newOrder(site.merchant);
  await page.route(`${scriptHost}/**`, (route) => route.fulfill({ contentType: "text/javascript", body: script }));
  await page.route(`**/v1/checkout/${order.id}?*`, async (route) => {
    const answer = await route.fetch();
    const element = { kind: "element", connector: "stripe", script_url: `${scriptHost}/v3/` };
    const render = { ...element, publishable_key: "pk_test_1", client_secret: "pi_1_secret_2", environment: "sandbox" };
    await route.fulfill({ response: answer, json: { ...(await answer.json()), render } });
  });
  return order.secret;
}

inBrowser.alone("reports a connect-src without Tollbooth within a second, and not as offline", () =>
  seeRefused("connect-src 'self'", "connect-src", site.stack.gateway),
);

inBrowser.alone("reports a frame-src without the processor within a second", () =>
  seeRefused("frame-src 'none'", "frame-src", site.stack.processor),
);

inBrowser.alone("reports a script-src without the processor's script within a second", () =>
  seeRefused(`script-src ${site.stack.gateway}`, "script-src-elem", scriptHost, (page) => withScript(page, "")),
);

inBrowser.alone("reports a frame-src without the frames of the processor's script", () => {
  // Like Stripe.js, which then never becomes ready.
  const script = `globalThis.Stripe = () => ({ elements: () => ({ create: () => ({ on() {}, destroy() {}, mount(place) {
    place.append(Object.assign(document.createElement("iframe"), { src: "${scriptHost}/fields" })); } }) }) });`;
  return seeRefused("frame-src 'none'", "frame-src", scriptHost, (page) => withScript(page, script));
});

inBrowser.alone("the npm package's loader reports a missing script-src and does not retry", async () => {
  await withPolicy("script-src 'self' 'unsafe-eval'", async (page, readMessages) => {
    const loader = readFileSync(join(dist, "loader.mjs"), "utf8");
    const served = { contentType: "text/javascript", body: loader };
    await page.route(`${site.shop.url}/loader.mjs`, (route) => route.fulfill(served));
    const firstMessage = page.waitForEvent("console", (message) => message.text().startsWith("Tollbooth"));
    const src = JSON.stringify(`${site.stack.gateway}/js/v1/checkout.js`);
    await page.evaluate(`import("/loader.mjs").then(({ loadCheckout }) => loadCheckout({ src: ${src} }))
      .then((checkout) => { globalThis.result = [checkout]; }); undefined`);
    await firstMessage;
    assert.deepEqual(await resultInTime(page), [null]);
    const lack = `script-src-elem ${site.stack.gateway}`;
    assert.deepEqual(readMessages(), [`Tollbooth: Content-Security-Policy lacks ${lack}`]);
  });
});

inBrowser.alone("ignores a report-only policy and still reports a lost connection as offline", async () => {
  const { secret } = await newOrder(site.merchant);
  const { context, page } = await inBrowser.open();
  const reports = encodeURIComponent("connect-src 'none'; frame-src 'none'");
  await page.goto(`${site.shop.url}/bare?reports=${reports}`);
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

inBrowser("keeps the cause of a failed secret function and calls it again on the next mount", async ({ page }) => {
  const { secret } = await newOrder(site.merchant);
  await page.goto(`${site.shop.url}/bare`);
  const [failed, mounted] = await page.evaluate<[unknown, unknown]>(`(async () => {
    const cause = new TypeError("the shop's backend did not answer");
    let tries = 0;
    const sessionSecret = async () => { if (++tries === 1) throw cause; return ${JSON.stringify(secret)}; };
    const handle = Tollbooth.create({ sessionSecret });
    const errors = [];
      handle.on("error", (error) => errors.push(error));
    const first = await handle.mount("#one");
    const { code, type, retryable, message } = first.error;
    const isKept = first.error.cause === cause && errors[0]?.cause === cause;
    const failed = { code, type, retryable, message, isKept, state: handle.state };
    const second = await handle.mount("#one");
    return [failed, { ok: second.ok, state: handle.state, tries, frames: document.querySelectorAll("iframe").length }];
  })()`);
  const message = "The payment form could not be loaded. Please try again.";
  const error = { code: "secret_unavailable", type: "load", retryable: true, message };
  assert.deepEqual(failed, { ...error, isKept: true, state: "failed" });
  assert.deepEqual(mounted, { ok: true, state: "ready", tries: 2, frames: 1 });
});

inBrowser("reports a proxy's response as server_error, not as offline", async ({ page }) => {
  const { secret, id } = await newOrder(site.merchant);
  await page.goto(`${site.shop.url}/bare`);
  const headers = { "access-control-allow-origin": "*" };
  const proxy = { status: 502, contentType: "text/html", headers, body: "<h1>Bad gateway</h1>" };
  await page.route(`**/v1/checkout/${id}?*`, (route) => route.fulfill(proxy));
  const code = await page.evaluate(
    `Tollbooth.create({ sessionSecret: ${JSON.stringify(secret)} }).load().then(({ error }) => error.code)`,
  );
  assert.equal(code, "server_error");
});

test.run();
