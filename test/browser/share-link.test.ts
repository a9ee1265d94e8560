// The address bar has no secret, so the page offers to copy the link or to show it as a QR code.
import assert from "node:assert/strict";
import { encode } from "uqr";
import { takeScreenshot } from "../harness/browser.ts";
import { cards } from "../harness/pay.ts";
import { formReady, newOrder, payWith, seeScreen } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const { inBrowser, site, test } = pageSuite("share link");
inBrowser(
  "a copied link opens the payment in another browser, the address bar's does not",
  async ({ context, page }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const order = await newOrder(site.merchant);
    await page.goto(order.link);
    await formReady(page);
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByText("Link copied").waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    assert.equal(copied, order.link);
    const { page: other, close } = await inBrowser.open();
    await other.goto(page.url());
    await seeScreen(other, "This link is not valid");
    await other.goto(copied);
    await payWith(other, cards.succeeds);
    await seeScreen(other, "Payment successful");
    await close();
  },
);

inBrowser("draws the link as a QR code without a request, and a keyboard closes it", async ({ page }) => {
  const order = await newOrder(site.merchant);
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(order.link);
  await formReady(page);
  assert.equal(requests.filter((url) => url.includes("/code-")).length, 0, "loaded on demand");
  await page.getByRole("button", { name: "Continue on another device" }).focus();
  await page.keyboard.press("Enter");
  const code = page.getByRole("img", { name: "Continue on another device" });
  await code.waitFor();
  await takeScreenshot(page, "40-other-device");
  const drawn = await page.evaluate(`document.querySelector(".code path").getAttribute("d")`);
  const wanted = encode(order.link, { ecc: "M", border: 0 }).data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x + 4} ${y + 4}h1v1h-1z`] : [])),
  );
  assert.equal(drawn, wanted.join(""));
  assert.equal(requests.filter((url) => url.includes(order.secret) && !url.includes("/v1/checkout/")).length, 0);
  await page.keyboard.press("Escape");
  await code.waitFor({ state: "hidden" });
});

inBrowser("does not run a QR module with another hash, and still shows the link", async ({ page }) => {
  await page.route("**/c/files/code-*", (route) =>
    route.fulfill({
      contentType: "text/javascript",
      body: "globalThis.isStranger = true; export const drawCode = () => {}",
    }),
  );
  const order = await newOrder(site.merchant);
  await page.goto(order.link);
  await formReady(page);
  await page.getByRole("button", { name: "Continue on another device" }).click();
  await page.getByRole("dialog").getByRole("textbox").waitFor();
  assert.equal(await page.getByRole("dialog").getByRole("textbox").inputValue(), order.link);
  await page.locator(".code").waitFor({ state: "detached" });
  assert.equal(await page.evaluate("globalThis.isStranger"), undefined);
});

inBrowser("does not offer the link during and after a payment", async ({ page }) => {
  await page.goto((await newOrder(site.merchant)).link);
  await payWith(page, "4000000000006009");
  await page.getByRole("button", { name: "Paying…" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Copy link" }).isVisible(), false);
  await seeScreen(page, "Payment successful");
  assert.equal(await page.getByRole("button", { name: "Copy link" }).isVisible(), false);
});

test.run();
