// Every screen of the hosted page: no violation that axe finds, the structure that it had when somebody last looked,
// and a picture of each under test/artifacts for people to judge.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { BrowserContextOptions, Page, Route } from "playwright-core";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { browserSuite, desktop, phone, shoot } from "../harness/browser.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { cards, pay } from "../harness/pay.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { confirmOrder, formReady, newOrder, type Order, payWith, seeScreen, typeCard } from "./buyer.ts";
import { sameStructure } from "./structure.ts";

const test = suite("screens", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const branding = {
  display_name: "Lemon Books",
  tagline: "Good reading since 1998",
  support_email: "help@lemonbooks.example",
  accent_color: "#0a7d4f",
  theme: "auto",
};
let running: StackInfo;
let merchant: TestMerchant;
/** Asks for an e-mail. */
let asking: TestMerchant;

test.before(async () => {
  running = await stack();
  merchant = await freshMerchant(running);
  (await merchant.api.patch("/v1/merchants/me/branding", branding)).expect(200);
  asking = await freshMerchant(running);
  (await asking.api.patch("/v1/merchants/me/branding", { ...branding, email_field: "required" })).expect(200);
});

const more = [
  ["phone-dark", { viewport: phone, colorScheme: "dark" }],
  ["desktop", { viewport: desktop }],
  ["desktop-dark", { viewport: desktop, colorScheme: "dark" }],
] as const;
// The phone is what most buyers have; SCREENS=all takes the dark and the desktop as well.
const sizes: readonly (readonly [string, BrowserContextOptions])[] = [
  ["phone", { viewport: phone }],
  ...(process.env.SCREENS === "all" ? more : []),
];

const visits = new Map<string, Awaited<ReturnType<typeof inBrowser.open>>>();

/** A tab of the one visit of this size. axe is put in as a script of the page, which its policy forbids. */
async function tabOf(size: string, options: BrowserContextOptions): Promise<Page> {
  const visit = visits.get(size) ?? (await inBrowser.open({ ...options, bypassCSP: true }));
  visits.set(size, visit);
  return await visit.context.newPage();
}

/** One screen in its sizes, side by side. */
function screen(name: string, reach: (page: Page, order: Order) => Promise<void>, order: Record<string, unknown> = {}) {
  inBrowser.alone(`${name} can be used by everybody`, async () => {
    await Promise.all(
      sizes.map(async ([size, options]) => {
        const page = await tabOf(size, options);
        const opened = await newOrder(merchant, { cancel_url: "https://lemonbooks.example/cart", ...order });
        await reach(page, opened);
        await sameStructure(page, name); // at once: some screens pass
        await shoot(page, `${name.replaceAll(" ", "-")}-${size}`);
        assert.deepEqual(await violations(page), []);
        await page.close();
      }),
    );
  });
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return await page.evaluate(`axe.run(document, { iframes: false }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`);
}

const answerRoute = (id: string) => `**/v1/checkout/${id}?*`;

screen("01 skeleton", async (page, order) => {
  await page.route(answerRoute(order.id), () => {});
  await page.goto(order.link);
  await page.getByText("Loading your payment").waitFor({ state: "attached" });
});

screen("02 pay", async (page, order) => {
  await page.goto(order.link);
  await formReady(page);
});

screen("03 submitting", async (page, order) => {
  await page.goto(order.link);
  await page.route("**/form/*/pay", () => {}); // on its way for ever
  await payWith(page, cards.succeeds);
  await page.locator('.pay-view[data-state="submitting"]').waitFor();
});

screen("04 bank check", async (page, order) => {
  await page.goto(order.link);
  await payWith(page, cards.needsChallenge);
  await seeScreen(page, "Your bank wants to check that it is you");
  await page.frameLocator("iframe").getByRole("button", { name: "Authenticate" }).first().waitFor();
});

screen("05 declined", async (page, order) => {
  await page.goto(order.link);
  await payWith(page, "4000000000009995");
  await page.getByRole("alert").getByText("enough funds").waitFor();
});

screen("06 processing", async (page, order) => {
  let isSent = false;
  page.on("response", (response) => (isSent ||= response.url().endsWith("/pay")));
  await page.route("**/confirm?*", (route) => route.abort());
  // Its webhook may come before the picture is taken.
  const waiting = { status: "processing", payment_status: "processing" };
  await page.route(answerRoute(order.id), (route) => (isSent ? changed(route, waiting) : route.continue()));
  await page.goto(order.link);
  await payWith(page, cards.asynchronous);
  await seeScreen(page, "Your payment is being processed");
});

screen(
  "07 paid",
  async (page, order) => {
    await page.goto(order.link);
    await payWith(page, cards.succeeds);
    await seeScreen(page, "Payment successful");
    await page.getByRole("link", { name: "View receipt" }).waitFor();
    await page.getByRole("button", { name: "Stay here" }).click();
  },
  { success_url: "https://lemonbooks.example/thanks" },
);

screen("08 already paid", async (page, order) => {
  await pay(order.answer.text("render.frame_url"));
  await confirmOrder(running, order);
  await page.goto(order.link);
  await seeScreen(page, "This payment was already made");
});

screen("09 expired", async (page, order) => {
  (await merchant.api.post(`/v1/checkout-sessions/${order.id}/expire`)).expect(200);
  await page.goto(order.link);
  await seeScreen(page, "This payment link has expired");
});

screen("10 canceled", async (page, order) => {
  await page.route(answerRoute(order.id), (route) => changed(route, { status: "canceled", render: undefined }));
  await page.goto(order.link);
  await seeScreen(page, "This payment was canceled");
});

screen("11 link not valid", async (page, order) => {
  await page.goto(order.link.slice(0, -6));
  await seeScreen(page, "This link is not valid");
});

screen("12 merchant cannot take it", async (page, order) => {
  await page.route(answerRoute(order.id), (route) => changed(route, { render: { kind: "carrier_pigeon" } }));
  await page.goto(order.link);
  await seeScreen(page, "This payment cannot be made here");
});

screen("13 offline", async (page, order) => {
  await page.route(answerRoute(order.id), (route) => route.abort());
  await page.goto(order.link);
  await seeScreen(page, "No connection");
});

screen("15 checking", async (page, order) => {
  await page.goto(order.link);
  await page.route("**/form/*/pay", () => {}); // on its way for ever
  await payWith(page, cards.succeeds);
  await page.locator('.pay-view[data-state="submitting"]').waitFor();
  await page.reload();
  await seeScreen(page, "Checking your payment");
});

screen("16 form blocked", async (page, order) => {
  await page.route("**/form/**", (route) => route.abort());
  await page.goto(order.link);
  await seeScreen(page, "The payment form did not load");
});

screen("17 too many declines", async (page, order) => {
  for (let tries = 0; tries < 9; tries++) await pay(order.answer.text("render.frame_url"), cards.declined);
  await page.goto(order.link);
  await payWith(page, cards.declined);
  await page.getByText("Too many cards were declined").waitFor();
});

screen("18 other device", async (page, order) => {
  await page.goto(order.link);
  await formReady(page);
  await page.getByRole("button", { name: "Continue on another device" }).click();
  await page.getByRole("img", { name: "Continue on another device" }).waitFor();
});

screen("14 server trouble", async (page, order) => {
  const headers = { "request-id": "req_01jd000000000000000000000" };
  await page.route(answerRoute(order.id), (route) => route.fulfill({ status: 500, headers, json: { error: {} } }));
  await page.goto(order.link);
  await seeScreen(page, "Something went wrong on our side");
  await page.getByRole("button", { name: "Try again" }).waitFor();
});

screen("19 e-mail asked for", async (page) => {
  await page.goto((await newOrder(asking, { description: "Order 1001" })).link);
  await formReady(page);
  await page.getByRole("button", { name: /^Pay / }).click();
  await page.getByText("Enter a valid e-mail address.").waitFor();
});

// The languages that differ most from English: longer words, another script, the other direction.
for (const locale of ["de", "ja", "ar"]) {
  inBrowser.alone(`the page can be used by everybody in ${locale}: to pay, declined and paid`, async () => {
    const page = await tabOf("phone", { viewport: phone });
    const order = await newOrder(asking, { locale });
    await page.goto(order.link);
    await formReady(page);
    await page.locator("button.pay").click();
    await page.locator(".field-problem:not([hidden])").waitFor();
    await shoot(page, `20-pay-${locale}`);
    assert.deepEqual(await violations(page), []);
    await page.locator("#email").fill("ada@example.com");
    await typeCard(page, cards.declined);
    await page.locator("button.pay").click();
    await page.locator(".notice-error:not([hidden])").waitFor();
    assert.deepEqual(await violations(page), []);
    await typeCard(page, cards.succeeds);
    await page.locator("button.pay").click();
    await page.locator(".message").waitFor();
    await page.locator("dl").first().waitFor();
    await shoot(page, `21-paid-${locale}`);
    assert.deepEqual(await violations(page), []);
    await page.close();
  });
}

inBrowser.alone("no screen broke a script", async () => {
  for (const visit of visits.values()) await visit.close();
});

/** The real answer with other values. */
async function changed(route: Route, change: Record<string, unknown>): Promise<void> {
  const answer = await route.fetch();
  await route.fulfill({ response: answer, json: { ...Object(await answer.json()), ...change } });
}

test.run();
