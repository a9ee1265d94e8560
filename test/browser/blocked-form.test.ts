// The processor's form cannot start because its first request is blocked or fails. The buyer gets one message with a
// retry button; nothing is confirmed and no text mentions a payment.
import assert from "node:assert/strict";
import type { Page, Route } from "playwright-core";
import { takeScreenshot } from "../harness/browser.ts";
import { cards } from "../harness/pay.ts";
import { formReady, newOrder, payWith, seeScreen } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("blocked form", { shop: [] });
const firstRequest = "**/form/*/status";

/** Counts requests that a loop would repeat. */
function count(page: Page): () => { confirms: number; frames: number; statusPolls: number } {
  const seen = { confirms: 0, frames: 0, statusPolls: 0 };
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.endsWith("/confirm")) seen.confirms += 1;
    if (/^\/form\/[^/]+$/.test(pathname)) seen.frames += 1;
    if (pathname.endsWith("/status")) seen.statusPolls += 1;
  });
  return () => ({ ...seen });
}

const noPayment = async (page: Page) =>
  assert.doesNotMatch(
    await page.locator("body").innerText(),
    /not charged|being processed|on its way|did not go through/i,
  );

for (const [what, answer] of [
  ["is blocked", (route: Route) => route.abort()],
  ["is answered with 503", (route: Route) => route.fulfill({ status: 503, body: "" })],
] as const) {
  inBrowser(`a form whose first request ${what} shows one message, and a retry recovers it`, async ({ page }) => {
    await page.clock.install();
    const seen = count(page);
    await page.route(firstRequest, answer);
    await page.goto((await newOrder(site.merchant)).link);
    await seeScreen(page, "The payment form did not load");
    await page.clock.fastForward(60_000);
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await noPayment(page);
    await takeScreenshot(page, "52-form-blocked");
    const { confirms, frames, statusPolls } = seen();
    assert.deepEqual([confirms, frames], [0, 1]);
    assert.ok(statusPolls > 1 && statusPolls <= 5, `${statusPolls} polls`);
    await page.unroute(firstRequest);
    await page.getByRole("button", { name: "Try again" }).click();
    await payWith(page, cards.succeeds);
    assert.equal(await page.getByText("did not load").count(), 0);
    await seeScreen(page, "Payment successful");
  });
}

inBrowser("a form recovers silently if only its first requests fail", async ({ page }) => {
  const seen = count(page);
  let failures = 2;
  await page.route(firstRequest, (route) => (failures-- > 0 ? route.abort() : route.continue()));
  await page.goto((await newOrder(site.merchant)).link);
  await formReady(page);
  assert.equal(await page.getByRole("alert").count(), 0);
  assert.deepEqual([seen().confirms, seen().frames], [0, 1]);
});

inBrowser("a shop gets load_failed once and can mount the fields again", async ({ page }) => {
  const seen = count(page);
  await page.route(firstRequest, (route) => route.abort());
  await page.goto(site.shop.url);
  await page.getByText("The payment form could not be loaded.").waitFor();
  await noPayment(page);
  assert.deepEqual([seen().confirms, seen().frames], [0, 1]);
  assert.equal(await page.locator("iframe").count(), 0);
  await page.unroute(firstRequest);
  await page.evaluate(`shopCheckout.mount("#card"); undefined`);
  await page.locator('body[data-state="ready"]').waitFor();
  assert.equal(seen().confirms, 0);
});

inBrowser("an error result without an attempt causes no confirm and no loop", async ({ page }) => {
  const seen = count(page);
  const body = `<script>addEventListener("message", ({ ports: [port] }) => {
    port.postMessage({ type: "ready", height: 90, test_cards: [] });
    port.postMessage({ type: "result", status: "error" });
  })</script>`;
  await page.route(/\/form\/[^/]+$/, (route) => route.fulfill({ contentType: "text/html", body }));
  await page.goto((await newOrder(site.merchant)).link);
  await seeScreen(page, "The payment form did not load");
  await noPayment(page);
  assert.deepEqual([seen().confirms, seen().frames], [0, 1]);
});

test.run();
