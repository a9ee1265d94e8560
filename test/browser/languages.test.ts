// One language from the link to the receipt: the page's, whatever the browser speaks, in the processor's fields, at the
// bank's question, on the receipt and in the SDK's errors.
import assert from "node:assert/strict";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { languages as pageLanguages } from "../../gateway/web/languages.ts";
import { languages as formLanguages } from "../../services/simulator/texts/languages.ts";
import { browserSuite } from "../harness/browser.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { newOrder, seeScreen, typeCard } from "./buyer.ts";
import { type Shop, startShop } from "./shop/server.ts";

const test = suite("languages of the page", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
let running: StackInfo;
let merchant: TestMerchant;
let shop: Shop;

test.before(async () => {
  running = await stack();
  merchant = await freshMerchant(running);
  shop = await startShop(running, merchant);
});
test.after(() => shop?.close());

for (const [code, texts] of pageLanguages) {
  inBrowser(`fields, 3-D Secure and receipt speak the page's language, ${code}`, async ({ page }) => {
    const form = formLanguages.get(code);
    assert.ok(form);
    await page.goto((await newOrder(merchant, { locale: code })).link);
    await typeCard(page, cards.needsChallenge);
    const frame = page.frameLocator("iframe");
    for (const text of [form.number, form.expiry, form.cvc, form.postal])
      await frame.getByText(text, { exact: true }).waitFor();
    assert.equal(await frame.locator("html").getAttribute("dir"), code === "ar" ? "rtl" : "ltr");
    await frame.locator("#cvc").fill("");
    await page.locator("button.pay").click();
    await frame.getByText(form.cvcEmpty).waitFor();
    await page.getByRole("alert").getByText(texts.incomplete).waitFor();
    await frame.locator("#cvc").fill("123");
    await page.locator("button.pay").click();
    await seeScreen(page, texts.challengeTitle);
    await frame.getByRole("button", { name: form.authenticate, exact: true }).click();
    await seeScreen(page, texts.paidTitle);
    const receipt = await page.getByRole("link", { name: texts.receipt }).getAttribute("href");
    await page.goto(receipt ?? "");
    await page.getByText(form.paidOn).waitFor();
  });
}

inBrowser("the SDK's errors are in the handle's language; a page's own texts replace them", async ({ page }) => {
  await page.goto(`${shop.url}/bare`);
  const messages = await page.evaluate<string[]>(`(async () => {
    const secret = "cs_secret_01jd3v9q6k8m2n4p6r8t0v2x4z_" + "a".repeat(43);
    const load = async (more) => (await Tollbooth.create({ sessionSecret: secret, ...more }).load()).error.message;
    return [await load({ locale: "de-AT" }), await load({ locale: "tlh" }), await load({ locale: "ja", messages: { invalid_secret: "own" } })];
  })()`);
  assert.deepEqual(messages, ["Dieser Zahlungslink ist nicht gültig.", "This payment link is not valid.", "own"]);
});

test.run();
