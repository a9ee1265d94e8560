// An address copied from the bar has no secret and opens nothing; the page hands it over on purpose, as a copied link
// and as a code for another device, and to nobody else.
import assert from "node:assert/strict";
import { encode } from "uqr";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { browserSuite, shoot } from "../harness/browser.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { formReady, newOrder, payWith, seeScreen } from "./buyer.ts";

const test = suite("hand over", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
let running: StackInfo;
let merchant: TestMerchant;

test.before(async () => {
  running = await stack();
  merchant = await freshMerchant(running);
});

inBrowser("a copied link opens the payment elsewhere, one from the address bar does not", async ({ context, page }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const order = await newOrder(merchant);
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
});

inBrowser("the code for another device is the link, drawn in the page; a keyboard closes it", async ({ page }) => {
  const order = await newOrder(merchant);
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(order.link);
  await formReady(page);
  assert.equal(requests.filter((url) => url.includes("/code-")).length, 0, "nobody wanted it yet");
  await page.getByRole("button", { name: "Continue on another device" }).focus();
  await page.keyboard.press("Enter");
  const code = page.getByRole("img", { name: "Continue on another device" });
  await code.waitFor();
  await shoot(page, "40-other-device");
  const drawn = await page.evaluate(`document.querySelector(".code path").getAttribute("d")`);
  const wanted = encode(order.link, { ecc: "M", border: 0 }).data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x + 4} ${y + 4}h1v1h-1z`] : [])),
  );
  assert.equal(drawn, wanted.join(""));
  assert.equal(requests.filter((url) => url.includes(order.secret) && !url.includes("/v1/checkout/")).length, 0);
  await page.keyboard.press("Escape");
  await code.waitFor({ state: "hidden" });
});

inBrowser(
  "what draws the code is pinned by its hash: another file does not run, and the link stands there still",
  async ({ page }) => {
    await page.route("**/c/files/code-*", (route) =>
      route.fulfill({
        contentType: "text/javascript",
        body: "globalThis.isStranger = true; export const drawCode = () => {}",
      }),
    );
    const order = await newOrder(merchant);
    await page.goto(order.link);
    await formReady(page);
    await page.getByRole("button", { name: "Continue on another device" }).click();
    await page.getByRole("dialog").getByRole("textbox").waitFor();
    assert.equal(await page.getByRole("dialog").getByRole("textbox").inputValue(), order.link);
    await page.locator(".code").waitFor({ state: "detached" });
    assert.equal(await page.evaluate("globalThis.isStranger"), undefined);
  },
);

inBrowser("while somebody pays, and when it is over, the link is not offered", async ({ page }) => {
  await page.goto((await newOrder(merchant)).link);
  await payWith(page, "4000000000006009");
  await page.getByRole("button", { name: "Paying…" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Copy link" }).isVisible(), false);
  await seeScreen(page, "Payment successful");
  assert.equal(await page.getByRole("button", { name: "Copy link" }).isVisible(), false);
});

test.run();
