// The demo shop: from "Buy now" to a paid order, and every other end.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { browserSuite, desktop, takeScreenshot } from "../harness/browser.ts";
import { type DemoShop, openDemoShop } from "../harness/demo-shop.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { sharedStack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { formReady, payWithTestCard, seeScreen } from "./buyer.ts";
import { axeViolations } from "./page-suite.ts";

const test = suite("demo shop", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
const narrowPhone = { viewport: { width: 390, height: 844 } } as const;
let shop: DemoShop;

test.before(async () => {
  const running = await sharedStack();
  shop = await openDemoShop(running, (await freshMerchant(running)).apiKey);
});
test.after(() => shop?.close());

async function order(page: Page): Promise<void> {
  await page.goto(shop.url);
  await page.getByRole("button", { name: "Buy now" }).click();
  await page.locator("#pay:enabled").waitFor();
}

async function payBy(page: Page, story: string): Promise<void> {
  await page.getByRole("button", { name: story, exact: true }).click();
  await page.getByRole("button", { name: "Pay $24.00" }).click();
}

const eventItem = (page: Page, type: string) => page.locator("#webhooks li").filter({ hasText: type }).first();
const isNarrow = async (page: Page) => Number(await page.evaluate("document.documentElement.scrollWidth")) <= 390;

inBrowser(
  "a buyer pays with a test card and sees the verified webhook",
  async ({ page }) => {
    await order(page);
    await payBy(page, "Pays");
    await seeScreen(page, "Thank you. Your order is paid.");
    assert.match(
      (await eventItem(page, "payment.succeeded").textContent()) ?? "",
      /signature verified.*"status":"succeeded"/,
    );
    assert.match((await page.locator("#card").textContent()) ?? "", /ending in 4242/);
    const receipt = await page.getByRole("link", { name: "Receipt" }).getAttribute("href");
    assert.equal((await fetch(receipt ?? "")).status, 200);
    await page.reload();
    await seeScreen(page, "Thank you. Your order is paid.");
    await takeScreenshot(page, "shop-paid");
    await page.getByRole("link", { name: "Back to the shop" }).click();
    await page.getByRole("button", { name: "Buy now" }).waitFor();
  },
  narrowPhone,
);

inBrowser(
  "shows a declined card, and another with 3-D Secure pays the same order",
  async ({ page }) => {
    await order(page);
    await payBy(page, "Is declined");
    await page.getByRole("alert").getByText("Your card was declined").waitFor();
    await eventItem(page, "payment.failed").waitFor();
    await payBy(page, "Requires 3-D Secure");
    await seeScreen(page, "Confirm with your bank");
    const bank = page.frameLocator("iframe");
    await bank.getByRole("button", { name: "Fail authentication" }).click();
    await page.getByRole("alert").getByText("Your bank did not confirm the payment").waitFor();
    await payBy(page, "Requires 3-D Secure");
    await bank.getByRole("button", { name: "Authenticate", exact: true }).click();
    await seeScreen(page, "Thank you. Your order is paid.");
  },
  { viewport: desktop },
);

inBrowser("shows a slow payment as processing and then as paid", async ({ page }) => {
  await order(page);
  await payBy(page, "Takes a while");
  await seeScreen(page, "Your payment is being processed");
  await page.getByRole("link", { name: "Back to the shop" }).waitFor();
  await seeScreen(page, "Thank you. Your order is paid.");
});

inBrowser("a buyer returns from the hosted page to an open or a paid order", async ({ page }) => {
  await order(page);
  const hosted = page.getByRole("link", { name: "hosted page" });
  await hosted.click();
  await formReady(page);
  await page.locator(".cancel a").click();
  await page.getByText("You left the payment page. Nothing was charged").waitFor();
  assert.match(page.url(), /\/orders\/LC-\w{12}$/);
  await hosted.click();
  await payWithTestCard(page, "4242424242424242");
  await page.getByRole("link", { name: /^Return to / }).click();
  await seeScreen(page, "Thank you. Your order is paid.");
});

inBrowser(
  "offers the hosted page if the SDK is blocked",
  async ({ page }) => {
    await page.route("**/js/v1/checkout.js", (route) => route.abort());
    await page.goto(shop.url);
    await page.getByRole("button", { name: "Buy now" }).click();
    await seeScreen(page, "The card fields did not load");
    await page.getByRole("link", { name: "hosted page" }).click();
    await formReady(page);
  },
  narrowPhone,
);

for (const colorScheme of ["light", "dark"] as const) {
  inBrowser(
    `fits 390 px and is accessible, ${colorScheme}`,
    async ({ page }) => {
      const checkScreen = async (name: string) => {
        await takeScreenshot(page, `shop-${name}-${colorScheme}`);
        assert.ok(await isNarrow(page), name);
        assert.deepEqual(await axeViolations(page), [], name);
      };
      await page.goto(shop.url);
      await checkScreen("product");
      await order(page);
      await checkScreen("order");
      await payBy(page, "Is declined");
      await eventItem(page, "payment.failed").waitFor();
      await checkScreen("declined");
      await payBy(page, "Pays");
      await seeScreen(page, "Thank you. Your order is paid.");
      await checkScreen("paid");
    },
    { ...narrowPhone, colorScheme, bypassCSP: true }, // the policy would block axe
  );
}

test.run();
