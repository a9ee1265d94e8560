// No screen is a dead end: the way back to the shop, whom to ask, what to quote, and what a buyer can do.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { membersOf } from "#platform/values/unchecked.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { browserSuite } from "../harness/browser.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { cards, pay } from "../harness/pay.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { formReady, newOrder, type Order, payWith, seeScreen } from "./buyer.ts";

const test = suite("way back", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
const cart = "https://lemonbooks.example/cart?order=7#top";
let running: StackInfo;
let merchant: TestMerchant;

test.before(async () => {
  running = await stack();
  merchant = await freshMerchant(running);
  const branding = { display_name: "Lemon Books", support_email: "help@lemonbooks.example" };
  (await merchant.api.patch("/v1/merchants/me/branding", branding)).expect(200);
});

const order = (change: Record<string, unknown> = {}) => newOrder(merchant, { cancel_url: cart, ...change });
const answers = ({ id }: Order) => `**/v1/checkout/${id}?*`;

/** What the page quotes, as somebody of the merchant's searches it: among sessions, where nothing was paid. */
async function isFound(page: Page, { id }: Order): Promise<void> {
  const [, quoted = ""] =
    /Reference (pay_\w{14})/.exec((await page.locator(".facts").innerText()).replace(/\s+/g, " ")) ?? [];
  const found = (await merchant.api.get(`/v1/checkout-sessions?q=${quoted}`)).expect(200).list("data");
  assert.deepEqual(
    found.map((session) => membersOf(session).id),
    [id],
  );
}

/** Whom to ask and the way back; @returns the way's status */
async function checkExitLink(page: Page): Promise<string | null> {
  await page.getByRole("link", { name: "help@lemonbooks.example" }).waitFor();
  const link = page.getByRole("link", { name: /^(Return to Lemon Books|Cancel and return)$/ });
  const address = new URL((await link.getAttribute("href")) ?? "");
  assert.deepEqual([address.searchParams.get("order"), address.hash], ["7", "#top"]);
  return address.searchParams.get("status");
}

const quotes = async (page: Page, reference: RegExp) =>
  assert.match((await page.locator(".facts").innerText()).replace(/\s+/g, " "), reference);

inBrowser("who leaves a session that can be paid is not told to the shop as canceled", async ({ page }) => {
  await page.goto((await order()).link);
  await formReady(page);
  assert.equal(await checkExitLink(page), "open");
});

inBrowser("an expired link keeps the way back, also after a reload", async ({ page }) => {
  const opened = await order();
  await page.goto(opened.link);
  await formReady(page);
  (await merchant.api.post(`/v1/checkout-sessions/${opened.id}/expire`)).expect(200);
  await page.evaluate(`dispatchEvent(new Event("online"))`);
  await seeScreen(page, "This payment link has expired");
  assert.equal(await checkExitLink(page), "expired");
  await isFound(page, opened);
  await page.reload();
  await seeScreen(page, "This payment link has expired");
  assert.equal(await checkExitLink(page), "expired");
  await isFound(page, opened);
});

inBrowser("the tenth decline says why nothing more can be tried, and what to do", async ({ page }) => {
  const opened = await order();
  for (let tries = 0; tries < 9; tries++) await pay(opened.answer.text("render.frame_url"), cards.declined);
  await page.goto(opened.link);
  await payWith(page, cards.declined);
  await seeScreen(page, "This payment was canceled");
  await page.getByText("Too many cards were declined").waitFor();
  assert.equal(await checkExitLink(page), "canceled");
  await isFound(page, opened);
});

inBrowser(
  "3-D Secure can be given up, or left for the shop; who gives it up hears so and pays again",
  async ({ page }) => {
    await page.goto((await order()).link);
    await payWith(page, cards.needsChallenge);
    await seeScreen(page, "Your bank wants to check");
    assert.equal(await page.locator("h1:visible, h2:visible").count(), 1, "one heading");
    assert.equal(await page.frameLocator("iframe").locator("h1:visible, h2:visible").count(), 0);
    assert.equal(await checkExitLink(page), "open");
    await page.frameLocator("iframe").getByRole("button", { name: "Cancel and go back" }).click();
    await page.getByRole("alert").getByText("You stopped your bank's check").waitFor();
    await payWith(page, cards.succeeds);
    await seeScreen(page, "Payment successful");
  },
);

inBrowser("what a processor is slow about has a reference to quote, which the merchant finds", async ({ page }) => {
  const opened = await order();
  await page.route("**/confirm?*", (route) => route.abort());
  await page.goto(opened.link);
  await payWith(page, cards.asynchronous);
  await seeScreen(page, "Your payment is being processed");
  await quotes(page, /^Reference pay_\w{14}$/);
  const [, quoted = ""] = /(pay_\w{14})/.exec(await page.locator(".facts").innerText()) ?? [];
  const found = (await merchant.api.get(`/v1/payments?q=${quoted}`)).expect(200).list("data");
  assert.equal(membersOf(found[0]).id, opened.id.replace("cs_", "pay_"));
  assert.equal(await checkExitLink(page), "processing");
});

inBrowser("who waits for a bank may go back to the shop, which hears that nobody knows yet", async ({ page }) => {
  const success = "https://lemonbooks.example/thanks?order=7#top";
  const opened = await order({ success_url: success });
  await page.goto(opened.link);
  await page.route("**/form/*/pay", () => {}); // on its way for ever
  await payWith(page, cards.succeeds);
  await page.locator('.pay-view[data-state="submitting"]').waitFor();
  await page.reload();
  await seeScreen(page, "Checking your payment");
  assert.equal(await checkExitLink(page), "processing");
  const href = await page.getByRole("link", { name: "Return to Lemon Books" }).getAttribute("href");
  assert.equal(new URL(href ?? "").pathname, "/thanks", "a shop is told of a payment, not of somebody who left");
});

inBrowser("a link that is not whole, and no connection, name what there is to quote", async ({ page }) => {
  const opened = await order();
  await page.goto(opened.link.slice(0, -6));
  await seeScreen(page, "This link is not valid");
  await page.getByRole("link", { name: "help@lemonbooks.example" }).waitFor();
  await isFound(page, opened);
  await page.route(answers(opened), (route) => route.abort());
  await page.goto(opened.link); // another fragment in the same tab
  await seeScreen(page, "No connection");
  await isFound(page, opened);
  await page.goto(`${opened.link.split("/c/")[0]}/c/cs_01jd3v9q6k8m2n4p6r8t0v2x4z#${opened.secret}`);
  await seeScreen(page, "This link is not valid");
  assert.equal(await page.locator(".facts").count(), 0, "an id that nobody has is quoted to nobody");
});

inBrowser("the merchant's own order number is what is quoted", async ({ page }) => {
  await page.goto((await order({ reference: "LB-2026-7" })).link);
  await page.getByText("Reference: LB-2026-7").waitFor();
  await payWith(page, cards.succeeds);
  await seeScreen(page, "Payment successful");
  await quotes(page, /Reference LB-2026-7/);
});

inBrowser("where the form is blocked the page says merchant, amount, reference and what to do", async ({ page }) => {
  await page.route("**/form/**", (route) => route.abort());
  const opened = await order();
  await page.goto(opened.link);
  await seeScreen(page, "The payment form did not load");
  await page.getByText("€10.50").first().waitFor();
  await page.getByText("Lemon Books", { exact: true }).waitFor();
  await page.getByText("another browser, or open this link on another device").waitFor();
  await isFound(page, opened);
  assert.equal(await checkExitLink(page), "open");
  await page.unroute("**/form/**");
  await page.getByRole("button", { name: "Try again" }).click();
  await formReady(page);
});

inBrowser("a merchant who cannot take it, and trouble of ours, name a reference and the way out", async ({ page }) => {
  const [unpaid, troubled] = [await order(), await order()];
  await page.route(answers(unpaid), async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...membersOf(await answer.json()), render: undefined } });
  });
  await page.goto(unpaid.link);
  await seeScreen(page, "This payment cannot be made here");
  await quotes(page, /^Reference pay_\w{14}$/);
  assert.equal(await checkExitLink(page), "open");
  const headers = { "request-id": "req_01jd000000000000000000000" };
  await page.route(answers(troubled), (route) => route.fulfill({ status: 500, headers, json: { error: {} } }));
  await page.goto(troubled.link);
  await seeScreen(page, "Something went wrong on our side");
  await quotes(page, /^Reference req_01jd/);
  await page.getByRole("link", { name: "help@lemonbooks.example" }).waitFor();
});

inBrowser(
  "without JavaScript the page names the merchant, what to quote and whom to ask",
  async ({ page }) => {
    const { link, id } = await order();
    await page.goto(link);
    const words = (await page.locator("main").innerText()).replace(/\s+/g, " ");
    assert.match(words, /Lemon Books .*needs JavaScript.*Write to help@lemonbooks\.example Reference: pay_\w{14}$/);
    assert.ok(words.endsWith(id.replace("cs_", "pay_").slice(0, 18)));
    const mail = page.getByRole("link", { name: "help@lemonbooks.example" });
    assert.equal(await mail.getAttribute("href"), "mailto:help@lemonbooks.example");
  },
  { javaScriptEnabled: false },
);

inBrowser("where the page's own script does not come, it says so after a while, and whom to ask", async ({ page }) => {
  await page.route("**/c/files/page-*.js", (route) => route.abort());
  const { link, id } = await order();
  await page.goto(link);
  assert.equal(await page.getByText("This is taking longer than usual").isVisible(), false);
  await page.getByText("This is taking longer than usual").waitFor();
  await page.getByRole("link", { name: "help@lemonbooks.example" }).waitFor();
  await page.getByText(id.replace("cs_", "pay_").slice(0, 18)).waitFor();
});

test.run();
