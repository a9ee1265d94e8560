// Every screen of the hosted page: no axe violations, one layout, nothing cut off, merchant and help, and a picture in
// test/artifacts. On a light phone and a dark desktop; SCREENS=all adds all variants and three languages.
import assert from "node:assert/strict";
import type { Page, Route } from "playwright-core";
import type { PageTexts } from "../../gateway/web/languages.ts";
import { languages } from "../../gateway/web/languages.ts";
import { desktop, phone, takeScreenshot } from "../harness/browser.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { cards, payInFrame } from "../harness/pay.ts";
import { confirmOrder, formReady, newOrder, type Order, seeScreen, typeCard } from "./buyer.ts";
import { cutOff, seeTwoHalves } from "./layout.ts";
import { axeViolations, pageSuite } from "./page-suite.ts";

const branding = {
  display_name: "Lemon Books",
  tagline: "Good reading since 1998",
  support_email: "help@lemonbooks.example",
  accent_color: "#0a7d4f",
  theme: "auto",
};
const { test, inBrowser, site } = pageSuite("screens", { timeoutMs: 240_000, branding });
/** Requires an e-mail. */
let asking: TestMerchant;
let visit: Awaited<ReturnType<typeof inBrowser.open>>;

test.before(async () => {
  asking = await freshMerchant(site.stack);
  (await asking.api.patch("/v1/merchants/me/branding", { ...branding, email_field: "required" })).expect(200);
});

const isAll = process.env.SCREENS === "all";
const variants = [
  ["phone", phone, "light"],
  ...(isAll
    ? ([
        ["phone-dark", phone, "dark"],
        ["desktop", desktop, "light"],
      ] as const)
    : []),
  ["desktop-dark", desktop, "dark"],
] as const;
// English, and languages with longer words, another script and the other direction.
const codes = isAll ? ["en", "de", "ja", "ar"] : ["en"];

/** A tab of a shared visit. The page's policy would block axe, so CSP is bypassed. */
async function newTab(): Promise<Page> {
  visit ??= await inBrowser.open({ bypassCSP: true });
  return await visit.context.newPage();
}

/** Stops long timers, which would change the screen during the checks. */
async function stopTimers(page: Page): Promise<void> {
  await page.addInitScript(`{ const begin = setTimeout;
    globalThis.setTimeout = (work, ms, ...rest) => begin(work, ms >= 10_000 ? 2 ** 30 : ms, ...rest); }`);
}

interface ScreenContext {
  readonly page: Page;
  readonly order: Order;
  readonly texts: PageTexts;
  readonly locale: string;
}

function screen(name: string, reach: (reached: ScreenContext) => Promise<void>, change: Record<string, unknown> = {}) {
  inBrowser.alone(`${name} is accessible, fits its window, and has one heading, merchant and help`, async () => {
    for (const locale of codes) {
      const texts = languages.get(locale);
      assert.ok(texts);
      const page = await newTab();
      await page.setViewportSize(phone);
      const order = await newOrder(site.merchant, { cancel_url: "https://lemonbooks.example/cart", locale, ...change });
      await reach({ page, order, texts, locale });
      assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1, locale);
      await page.getByText(branding.display_name, { exact: true }).first().waitFor();
      await page.getByRole("link", { name: branding.support_email }).waitFor();
      for (const [variant, viewport, colorScheme] of variants) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await takeScreenshot(page, `${name.replaceAll(" ", "-")}-${locale}-${variant}`);
        assert.deepEqual(await axeViolations(page), [], `${locale} ${variant}`);
        assert.deepEqual(await cutOff(page), [], `${locale} ${variant}`);
        if (viewport === desktop) await seeTwoHalves(page, locale);
      }
      // The smallest phone with a large font.
      await page.setViewportSize({ width: 320, height: 640 });
      await page.evaluate(`document.documentElement.style.fontSize = "28px"`);
      assert.deepEqual(await cutOff(page), [], `${locale} at 320 px and 28 px`);
      await page.close();
    }
  });
}

async function payWith(page: Page, card: string): Promise<void> {
  await typeCard(page, card);
  await page.locator("button.pay").click();
}

const answerRoute = ({ id }: Order) => `**/v1/checkout/${id}?*`;
const isSubmitting = (page: Page) => page.locator('.pay-view[data-state="submitting"]').waitFor();

screen("01 skeleton", async ({ page, order, texts }) => {
  await page.route(answerRoute(order), () => {});
  await page.goto(order.link);
  await page.getByText(texts.slow).waitFor();
});

screen("02 pay", async ({ page, order }) => {
  await page.goto(order.link);
  await formReady(page);
});

screen("03 submitting", async ({ page, order }) => {
  await page.goto(order.link);
  await page.route("**/form/*/pay", () => {}); // never answered
  await payWith(page, cards.succeeds);
  await isSubmitting(page);
});

screen("04 bank check", async ({ page, order, texts }) => {
  await page.goto(order.link);
  await payWith(page, cards.needsChallenge);
  await seeScreen(page, texts.challengeTitle);
  await page.frameLocator("iframe").locator("#challenge button").first().waitFor();
});

screen("05 declined", async ({ page, order, texts }) => {
  await page.goto(order.link);
  await payWith(page, "4000000000009995");
  await page.getByRole("alert").getByText(texts.declinedFunds).waitFor();
});

screen("06 processing", async ({ page, order, texts }) => {
  await stopTimers(page);
  let isSent = false;
  page.on("response", (response) => (isSent ||= response.url().endsWith("/pay")));
  await page.route("**/confirm?*", (route) => route.abort());
  // The webhook may arrive before the picture is taken.
  const waiting = { status: "processing", payment_status: "processing" };
  await page.route(answerRoute(order), (route) => (isSent ? changed(route, waiting) : route.continue()));
  await page.goto(order.link);
  await payWith(page, cards.asynchronous);
  await seeScreen(page, texts.processingTitle);
});

screen(
  "07 paid",
  async ({ page, order, texts }) => {
    await page.goto(order.link);
    await payWith(page, cards.succeeds);
    await seeScreen(page, texts.paidTitle);
    await page.getByRole("link", { name: texts.receipt }).waitFor();
    await page.getByRole("button", { name: texts.stay }).click();
  },
  { success_url: "https://lemonbooks.example/thanks" },
);

screen("08 receipt", async ({ page, order, texts }) => {
  await payInFrame(order.answer.text("render.frame_url"));
  await confirmOrder(site.stack, order);
  await page.goto(order.link);
  await seeScreen(page, texts.paidTitle);
  await page.locator("#receipt").getByRole("button", { name: texts.print }).waitFor();
});

screen("09 expired", async ({ page, order, texts }) => {
  (await site.merchant.api.post(`/v1/checkout-sessions/${order.id}/expire`)).expect(200);
  await page.goto(order.link);
  await seeScreen(page, texts.expiredTitle);
});

screen("10 canceled", async ({ page, order, texts }) => {
  await page.route(answerRoute(order), (route) => changed(route, { status: "canceled", render: undefined }));
  await page.goto(order.link);
  await seeScreen(page, texts.canceledTitle);
});

screen("11 link not valid", async ({ page, order, texts }) => {
  await page.goto(order.link.slice(0, -6));
  await seeScreen(page, texts.invalidTitle);
});

screen("12 merchant cannot take it", async ({ page, order, texts }) => {
  await page.route(answerRoute(order), (route) => changed(route, { render: { kind: "carrier_pigeon" } }));
  await page.goto(order.link);
  await seeScreen(page, texts.unavailableTitle);
});

screen("13 offline", async ({ page, order, texts }) => {
  await page.route(answerRoute(order), (route) => route.abort());
  await page.goto(order.link);
  await seeScreen(page, texts.offlineTitle);
});

screen("14 server trouble", async ({ page, order, texts }) => {
  const headers = { "request-id": "req_01jd000000000000000000000" };
  await page.route(answerRoute(order), (route) => route.fulfill({ status: 500, headers, json: { error: {} } }));
  await page.goto(order.link);
  await seeScreen(page, texts.serverTitle);
  await page.getByRole("button", { name: texts.retry }).waitFor();
});

screen("15 checking", async ({ page, order, texts }) => {
  await stopTimers(page);
  await page.goto(order.link);
  await page.route("**/form/*/pay", () => {}); // never answered
  await payWith(page, cards.succeeds);
  await isSubmitting(page);
  await page.reload();
  await seeScreen(page, texts.checkTitle);
});

screen("16 form blocked", async ({ page, order, texts }) => {
  await page.route("**/form/**", (route) => route.abort());
  await page.goto(order.link);
  await seeScreen(page, texts.formTitle);
});

screen("17 too many declines", async ({ page, order, texts }) => {
  for (let tries = 0; tries < 9; tries++) await payInFrame(order.answer.text("render.frame_url"), cards.declined);
  await page.goto(order.link);
  await payWith(page, cards.declined);
  await seeScreen(page, texts.canceledTitle);
  const [why = ""] = texts.canceledDeclines.split("{merchant}");
  await page.getByText(why).waitFor();
});

screen("18 other device", async ({ page, order, texts }) => {
  await page.goto(order.link);
  await formReady(page);
  await page.getByRole("button", { name: texts.otherDevice }).click();
  await page.getByRole("img", { name: texts.otherDevice }).waitFor();
});

screen("19 e-mail asked for", async ({ page, locale, texts }) => {
  await page.goto((await newOrder(asking, { description: "Order 1001", locale })).link);
  await formReady(page);
  await page.locator("button.pay").click();
  await page.getByText(texts.emailWrong).waitFor();
});

screen(
  "20 lines",
  async ({ page, order }) => {
    await page.goto(order.link);
    await formReady(page);
  },
  {
    amount: 6_490,
    description: "",
    reference: "LB-2026-1001",
    line_items: [
      { name: "Lemon cookbook, hardcover", quantity: 2, amount: 4_990 },
      { name: "Apron", quantity: 1, amount: 2_500 },
      { name: "10 % off", quantity: 1, amount: -1_000 },
    ],
  },
);

for (const locale of ["de", "ja", "ar"]) {
  inBrowser.alone(`the page is accessible in ${locale}: form, decline and paid screen`, async () => {
    const page = await newTab();
    const order = await newOrder(asking, { locale });
    await page.goto(order.link);
    await formReady(page);
    await page.locator("button.pay").click();
    await page.locator(".field-problem:not([hidden])").waitFor();
    await takeScreenshot(page, `21-pay-${locale}`);
    assert.deepEqual(await axeViolations(page), []);
    await page.locator("#email").fill("ada@example.com");
    await typeCard(page, cards.declined);
    await page.locator("button.pay").click();
    await page.locator(".notice-error:not([hidden])").waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await typeCard(page, cards.succeeds);
    await page.locator("button.pay").click();
    await page.locator(".message").waitFor();
    await page.locator("dl").first().waitFor();
    await takeScreenshot(page, `22-paid-${locale}`);
    assert.deepEqual(await axeViolations(page), []);
    await page.close();
  });
}

inBrowser.alone("no screen had a script error", async () => {
  await visit?.close();
});

/** The real response with changed values. */
async function changed(route: Route, change: Record<string, unknown>): Promise<void> {
  const answer = await route.fetch();
  await route.fulfill({ response: answer, json: { ...Object(await answer.json()), ...change } });
}

test.run();
