// During a payment the page and its screen reader announcements show the true state, also after a reload or an outage.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { cards } from "../harness/pay.ts";
import { formReady, newOrder, payWith, seeScreen, typeCard } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("state while paying");
const [slowCard, outageCard] = ["4000000000006009", "4000000000006207"];

/** Records the page's announcements to a screen reader, in order. */
async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(`globalThis.announced = [];
    new MutationObserver(() => announced.push(document.getElementById("live").textContent))
      .observe(document.getElementById("live"), { childList: true, characterData: true, subtree: true })`);
  return async () => (await page.evaluate<string[]>("announced")).filter((text) => text !== "");
}

const live = (page: Page) => page.locator("#live").textContent();

inBrowser("shows the payment on the button and announces it once", async ({ page }) => {
  await page.goto((await newOrder(site.merchant)).link);
  await formReady(page);
  const readAnnouncements = await listen(page);
  await payWith(page, slowCard);
  await page.getByRole("button", { name: "Paying…" }).waitFor();
  await seeScreen(page, "Payment successful");
  assert.deepEqual(await readAnnouncements(), ["Processing your payment. Please keep this page open."]);
  assert.equal(await live(page), "", "cleared at the end");
});

inBrowser("does not announce a payment after an empty submit", async ({ page }) => {
  await page.goto((await newOrder(site.merchant)).link);
  await formReady(page);
  const readAnnouncements = await listen(page);
  await page.getByRole("button", { name: /^Pay €/ }).click();
  await page.getByRole("alert").getByText("Please check the card details.").waitFor();
  assert.deepEqual([await readAnnouncements(), await live(page)], [[], ""]);
  await page.getByRole("button", { name: "Pay €10.50" }).waitFor();
});

inBrowser("a reload during a payment shows the check, never an empty form, and then the result", async ({ page }) => {
  await page.goto((await newOrder(site.merchant)).link);
  await typeCard(page, slowCard);
  const sent = page.waitForRequest(/\/form\/[^/]+\/pay$/);
  await page.getByRole("button", { name: /^Pay €/ }).click();
  await sent;
  await page.addInitScript(`
    globalThis.shown = [];
    new MutationObserver(() => {
      const pay = document.querySelector("button.pay-button, .pay-view:not([hidden]) button.pay");
      if (pay) shown.push(pay.textContent);
    }).observe(document, { childList: true, subtree: true, attributes: true });`);
  await page.reload();
  await seeScreen(page, "Checking your payment");
  assert.match((await page.locator(".facts").textContent()) ?? "", /pay_\w{14}/);
  await seeScreen(page, "Payment successful");
  assert.deepEqual(await page.evaluate("shown"), [], "no form was shown");
});

inBrowser(
  "a reload before the card was sent returns to the form with a note that nothing was paid",
  async ({ page }) => {
    const order = await newOrder(site.merchant);
    await page.goto(order.link);
    await typeCard(page, cards.succeeds);
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    let sent = 0;
    // The first is never answered.
    await page.route("**/form/*/pay", (route) => (++sent === 1 ? resolve() : route.continue()));
    await page.getByRole("button", { name: /^Pay €/ }).click();
    await begun;
    await page.reload();
    await seeScreen(page, "Checking your payment");
    await page.getByRole("alert").getByText("No payment has come through").waitFor();
    await payWith(page, cards.succeeds);
    await seeScreen(page, "Payment successful");
  },
);

inBrowser("keeps the typed card through an outage of the processor", async ({ page }) => {
  await page.goto((await newOrder(site.merchant)).link);
  await payWith(page, outageCard);
  await page.getByRole("alert").getByText("you were not charged").waitFor();
  const form = page.frameLocator("iframe");
  const typed = await Promise.all(["#number", "#expiry", "#cvc"].map((field) => form.locator(field).inputValue()));
  assert.deepEqual(typed, ["4000 0000 0000 6207", "12 / 40", "123"]);
  await form.locator("#number").fill(cards.succeeds);
  await page.getByRole("button", { name: /^Pay €/ }).click();
  await seeScreen(page, "Payment successful");
});

inBrowser("does not announce that nothing was sent when offline during a payment", async ({ page }) => {
  await page.route("**/confirm?*", (route) => route.abort());
  await page.goto((await newOrder(site.merchant)).link);
  await formReady(page);
  const readAnnouncements = await listen(page);
  await payWith(page, cards.asynchronous);
  await seeScreen(page, "Your payment is being processed");
  await page.route("**/v1/checkout/*", (route) => route.abort());
  const failed = page.waitForEvent("requestfailed", (request) => !request.url().includes("/confirm"));
  await page.evaluate(`dispatchEvent(new Event("online"))`);
  await failed;
  await page.unroute("**/v1/checkout/*");
  await page.unroute("**/confirm?*");
  await seeScreen(page, "Payment successful");
  assert.deepEqual(await readAnnouncements(), ["Processing your payment. Please keep this page open."]);
});

inBrowser("shows the link's expiry by the server's clock", async ({ page }) => {
  const dayMs = 86_400_000;
  await page.clock.install({ time: Date.now() + 2 * dayMs });
  await page.goto((await newOrder(site.merchant)).link);
  await formReady(page);
  assert.equal(await page.locator(".expiry").textContent(), "", "a day is left");
  const order = await newOrder(site.merchant, { expires_in: 300 });
  await page.goto(order.link);
  const end = new Date(order.answer.text("expires_at"));
  const isToday = end.toDateString() === new Date().toDateString();
  const style = { dateStyle: isToday ? undefined : "medium", timeStyle: "short" } as const;
  await page.getByText(`This link expires at ${new Intl.DateTimeFormat("en-IE", style).format(end)}.`).waitFor();
});

test.run();
