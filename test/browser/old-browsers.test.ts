// The oldest supported browsers (docs/checkout-page.md): the build targets their syntax, and these tests remove newer
// functions in the page and in the processor's frame. Older browsers get an explanation.
import assert from "node:assert/strict";
import { takeScreenshot } from "../harness/browser.ts";
import { cards } from "../harness/pay.ts";
import { formReady, newOrder, seeScreen, typeCard } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("old browsers", { shop: [], branding: { email_field: "required" } });
/** Missing in Chrome 94, Firefox 98 or Safari 15.4. */
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

inBrowser("a buyer enters an e-mail and pays in the oldest supported browser", async ({ page }) => {
  await page.addInitScript(takeAway);
  await page.goto((await newOrder(site.merchant, { locale: "de" })).link);
  await formReady(page);
  assert.equal(await page.evaluate("typeof AbortSignal.timeout"), "undefined");
  assert.equal(await page.frames()[1]?.evaluate("typeof AbortSignal.timeout"), "undefined");
  await typeCard(page, cards.needsChallenge);
  await page.locator("#email").fill("ada@example.com");
  await page.locator("button.pay").click();
  await page.frameLocator("iframe").getByRole("button", { name: "Bestätigen", exact: true }).click();
  await page.locator(".sign-done").waitFor();
});

inBrowser("the SDK uses the buyer's language in the oldest supported browser", async ({ page }) => {
  await page.addInitScript(takeAway);
  await page.goto(`${site.shop.url}/bare`);
  const message = await page.evaluate(`(async () => {
    const sessionSecret = "cs_secret_01jd3v9q6k8m2n4p6r8t0v2x4z_" + "a".repeat(43);
    return (await Tollbooth.create({ sessionSecret, locale: "de" }).load()).error.message;
  })()`);
  assert.equal(message, "Dieser Zahlungslink ist nicht gültig.");
});

inBrowser("an unsupported browser gets an explanation and keeps its link", async ({ page }) => {
  const order = await newOrder(site.merchant);
  await page.addInitScript("delete Object.hasOwn;");
  await page.goto(order.link);
  await seeScreen(page, "This browser cannot show the payment");
  await page.getByText("open the link in another one").waitFor();
  assert.equal(page.url(), order.link, "it can be copied from the address bar");
  await takeScreenshot(page, "53-unsupported-browser");
});

test.run();
