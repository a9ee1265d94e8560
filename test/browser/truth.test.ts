// While somebody pays, the page says what is true: to eyes, to a screen reader, after a reload, after an outage.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { browserSuite } from "../harness/browser.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { formReady, newOrder, payWith, seeScreen, typeCard } from "./buyer.ts";

const test = suite("truth while paying", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
const [slowCard, outageCard] = ["4000000000006009", "4000000000006207"];
let running: StackInfo;
let merchant: TestMerchant;

test.before(async () => {
  running = await stack();
  merchant = await freshMerchant(running);
});

/** Everything that the page told a screen reader, in its order. */
async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(`globalThis.heard = [];
    new MutationObserver(() => heard.push(document.getElementById("live").textContent))
      .observe(document.getElementById("live"), { childList: true, characterData: true, subtree: true })`);
  return async () => (await page.evaluate<string[]>("heard")).filter((text) => text !== "");
}

const live = (page: Page) => page.locator("#live").textContent();

inBrowser("while paying the button says so, and a screen reader hears it once", async ({ page }) => {
  await page.goto((await newOrder(merchant)).link);
  await formReady(page);
  const readAnnouncements = await listen(page);
  await payWith(page, slowCard);
  await page.getByRole("button", { name: "Paying…" }).waitFor();
  await seeScreen(page, "Payment successful");
  assert.deepEqual(await readAnnouncements(), ["Processing your payment. Please keep this page open."]);
  assert.equal(await live(page), "", "nothing goes on any more");
});

inBrowser("after an empty submit nobody hears that a payment is processed", async ({ page }) => {
  await page.goto((await newOrder(merchant)).link);
  await formReady(page);
  const readAnnouncements = await listen(page);
  await page.getByRole("button", { name: /^Pay €/ }).click();
  await page.getByRole("alert").getByText("Please check the card details.").waitFor();
  assert.deepEqual([await readAnnouncements(), await live(page)], [[], ""]);
  await page.getByRole("button", { name: "Pay €10.50" }).waitFor();
});

inBrowser(
  "a reload in the middle opens on the check, never on an empty form, and ends on what is true",
  async ({ page }) => {
    await page.goto((await newOrder(merchant)).link);
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
    assert.deepEqual(await page.evaluate("shown"), [], "no form was offered meanwhile");
  },
);

inBrowser(
  "where the reload came before the card was sent, the form comes back and says that nothing was paid",
  async ({ page }) => {
    const order = await newOrder(merchant);
    await page.goto(order.link);
    await typeCard(page, cards.succeeds);
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    let sent = 0;
    // The first is on its way for ever.
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

inBrowser("after an outage of the processor the typed card is there, and pays", async ({ page }) => {
  await page.goto((await newOrder(merchant)).link);
  await payWith(page, outageCard);
  await page.getByRole("alert").getByText("you were not charged").waitFor();
  const form = page.frameLocator("iframe");
  const typed = await Promise.all(["#number", "#expiry", "#cvc"].map((field) => form.locator(field).inputValue()));
  assert.deepEqual(typed, ["4000 0000 0000 6207", "12 / 40", "123"]);
  await form.locator("#number").fill(cards.succeeds);
  await page.getByRole("button", { name: /^Pay €/ }).click();
  await seeScreen(page, "Payment successful");
});

inBrowser("offline while a payment is under way, no reader hears that nothing was sent", async ({ page }) => {
  await page.route("**/confirm?*", (route) => route.abort());
  await page.goto((await newOrder(merchant)).link);
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

inBrowser("the link's expiry is told by the server's clock, and the buyer's may be days off", async ({ page }) => {
  const dayMs = 86_400_000;
  await page.clock.install({ time: Date.now() + 2 * dayMs });
  await page.goto((await newOrder(merchant)).link);
  await formReady(page);
  assert.equal(await page.locator(".expiry").textContent(), "", "a day is left");
  const order = await newOrder(merchant, { expires_in: 300 });
  await page.goto(order.link);
  const end = new Date(order.answer.text("expires_at"));
  const isToday = end.toDateString() === new Date().toDateString();
  const style = { dateStyle: isToday ? undefined : "medium", timeStyle: "short" } as const;
  await page.getByText(`This link expires at ${new Intl.DateTimeFormat("en-IE", style).format(end)}.`).waitFor();
});

test.run();
