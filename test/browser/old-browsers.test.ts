// The oldest supported browsers (docs/checkout-page.md): the build has their syntax, so what is left are functions that
// came later. They are taken away here, in the page and in the processor's frame. Older browsers get words.
import assert from "node:assert/strict";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { browserSuite, shoot } from "../harness/browser.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { formReady, newOrder, payButton, seeScreen, typeCard } from "./buyer.ts";
import { type Shop, startShop } from "./shop/server.ts";

const test = suite("old browsers", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
let running: StackInfo;
let merchant: TestMerchant;
let shop: Shop;

test.before(async () => {
  running = await stack();
  merchant = await freshMerchant(running);
  (await merchant.api.patch("/v1/merchants/me/branding", { email_field: "required" })).expect(200);
  shop = await startShop(running, merchant);
});
test.after(() => shop?.close());

/** Newer than Chrome 94, Firefox 98 or Safari 15.4, whichever lacks it. */
const newer = {
  AbortSignal: "timeout any",
  "Array.prototype": "findLast findLastIndex toSorted toReversed toSpliced with",
  Array: "fromAsync",
  Object: "groupBy",
  Map: "groupBy",
  Promise: "withResolvers try",
  URL: "canParse parse",
  "String.prototype": "isWellFormed toWellFormed",
  "Set.prototype": "union intersection difference symmetricDifference isSubsetOf isSupersetOf isDisjointFrom",
  "Element.prototype": "checkVisibility ariaHidden ariaLabel",
  globalThis: "structuredClone scheduler Iterator",
};
const takeAway = Object.entries(newer)
  .flatMap(([owner, names]) => names.split(" ").map((name) => `delete ${owner}.${name};`))
  .join("\n");

inBrowser(
  "with the functions of the oldest supported browsers alone the buyer gives an e-mail and pays",
  async ({ page }) => {
    await page.addInitScript(takeAway);
    await page.goto((await newOrder(merchant, { locale: "de" })).link);
    await formReady(page);
    assert.equal(await page.evaluate("typeof AbortSignal.timeout"), "undefined");
    assert.equal(await page.frames()[1]?.evaluate("typeof AbortSignal.timeout"), "undefined");
    await typeCard(page, cards.needsChallenge);
    await page.locator("#email").fill("ada@example.com");
    await page.locator("button.pay").click();
    await page.frameLocator("iframe").getByRole("button", { name: "Bestätigen", exact: true }).click();
    await page.locator(".sign-done").waitFor();
  },
);

inBrowser("with them alone the SDK speaks the buyer's language", async ({ page }) => {
  await page.addInitScript(takeAway);
  await page.goto(`${shop.url}/bare`);
  const message = await page.evaluate(`(async () => {
    const sessionSecret = "cs_secret_01jd3v9q6k8m2n4p6r8t0v2x4z_" + "a".repeat(43);
    return (await Tollbooth.create({ sessionSecret, locale: "de" }).load()).error.message;
  })()`);
  assert.equal(message, "Dieser Zahlungslink ist nicht gültig.");
});

inBrowser("a browser that is older says at once that another one is needed, and keeps its link", async ({ page }) => {
  const order = await newOrder(merchant);
  await page.addInitScript("delete Object.hasOwn;");
  await page.goto(order.link);
  await seeScreen(page, "This browser cannot show the payment");
  await page.getByText("open the link in another one").waitFor();
  assert.equal(page.url(), order.link, "it can be copied from the address bar");
  await shoot(page, "53-unsupported-browser");
});

inBrowser("where the page's script does not run the words name another browser", async ({ page }) => {
  await page.route("**/c/files/page-*.js", (route) => route.abort());
  await page.goto((await newOrder(merchant)).link);
  await page.getByText("try another browser").waitFor();
  assert.equal(await payButton(page).count(), 0);
  await shoot(page, "54-script-blocked");
});

test.run();
