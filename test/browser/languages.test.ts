// The page's language is used everywhere: in the processor's fields, 3-D Secure, the receipt and the SDK's errors.
import assert from "node:assert/strict";
import { languages as pageLanguages } from "../../gateway/web/languages.ts";
import { languages as formLanguages } from "../../services/simulator/texts/languages.ts";
import { cards } from "../harness/pay.ts";
import { newOrder, seeScreen, typeCard } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("languages of the page", { shop: [] });
for (const [code, texts] of pageLanguages) {
  inBrowser(`fields, 3-D Secure and receipt use the page's language, ${code}`, async ({ page }) => {
    const form = formLanguages.get(code);
    assert.ok(form);
    await page.goto((await newOrder(site.merchant, { locale: code })).link);
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
    await page.getByText(texts.paidTo, { exact: true }).waitFor();
    assert.equal(await page.locator("html").getAttribute("lang"), code);
  });
}

inBrowser("SDK errors use the handle's language, and the page's own texts replace them", async ({ page }) => {
  await page.goto(`${site.shop.url}/bare`);
  const messages = await page.evaluate<string[]>(`(async () => {
    const secret = "cs_secret_01jd3v9q6k8m2n4p6r8t0v2x4z_" + "a".repeat(43);
    const load = async (more) => (await Tollbooth.create({ sessionSecret: secret, ...more }).load()).error.message;
    return [await load({ locale: "de-AT" }), await load({ locale: "tlh" }), await load({ locale: "ja", messages: { invalid_secret: "own" } })];
  })()`);
  assert.deepEqual(messages, ["Dieser Zahlungslink ist nicht gültig.", "This payment link is not valid.", "own"]);
});

test.run();
