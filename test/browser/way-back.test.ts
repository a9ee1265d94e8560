// Every screen offers the return to the shop, a support address, a reference and the next step.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { membersOf } from "#platform/values/unchecked.ts";
import { cards, payInFrame } from "../harness/pay.ts";
import { formReady, newOrder, type Order, payWith, seeScreen } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("return links", {
  branding: { display_name: "Lemon Books", support_email: "help@lemonbooks.example" },
});
const cart = "https://lemonbooks.example/cart?order=7#top";

const order = (change: Record<string, unknown> = {}) => newOrder(site.merchant, { cancel_url: cart, ...change });
const answers = ({ id }: Order) => `**/v1/checkout/${id}?*`;

/** The merchant finds the quoted reference among its sessions. */
async function isFound(page: Page, { id }: Order): Promise<void> {
  const [, quoted = ""] =
    /Reference (pay_\w{14})/.exec((await page.locator(".facts").innerText()).replace(/\s+/g, " ")) ?? [];
  const found = (await site.merchant.api.get(`/v1/checkout-sessions?q=${quoted}`)).expect(200).list("data");
  assert.deepEqual(
    found.map((session) => membersOf(session).id),
    [id],
  );
}

/** Checks support address and return link. @returns the link's status */
async function checkExitLink(page: Page): Promise<string | null> {
  await page.getByRole("link", { name: "help@lemonbooks.example" }).waitFor();
  const link = page.getByRole("link", { name: /^(Return to Lemon Books|Cancel and return)$/ });
  const address = new URL((await link.getAttribute("href")) ?? "");
  assert.deepEqual([address.searchParams.get("order"), address.hash], ["7", "#top"]);
  return address.searchParams.get("status");
}

const quotes = async (page: Page, reference: RegExp) =>
  assert.match((await page.locator(".facts").innerText()).replace(/\s+/g, " "), reference);

inBrowser("leaving an open session returns to the shop with status open", async ({ page }) => {
  await page.goto((await order()).link);
  await formReady(page);
  assert.equal(await checkExitLink(page), "open");
});

inBrowser("an open page shows its link's expiry and keeps the return link after a reload", async ({ page }) => {
  const opened = await order();
  await page.goto(opened.link);
  await formReady(page);
  (await site.merchant.api.post(`/v1/checkout-sessions/${opened.id}/expire`)).expect(200);
  await page.evaluate(`dispatchEvent(new Event("online"))`);
  await seeScreen(page, "This payment link has expired");
  assert.equal(await checkExitLink(page), "expired");
  await isFound(page, opened);
  await page.reload();
  await seeScreen(page, "This payment link has expired");
  assert.equal(await checkExitLink(page), "expired");
  await isFound(page, opened);
});

inBrowser("an ended link has the way back also where it was never open", async ({ page }) => {
  const opened = await order({ reference: "A-7" });
  (await site.merchant.api.post(`/v1/checkout-sessions/${opened.id}/expire`)).expect(200);
  await page.goto(opened.link);
  await seeScreen(page, "This payment link has expired");
  assert.equal(await checkExitLink(page), "expired");
  assert.doesNotMatch(await page.content(), /A-7|10\.50/);
});

inBrowser("explains after the tenth decline why the link was closed", async ({ page }) => {
  const opened = await order();
  for (let tries = 0; tries < 9; tries++) await payInFrame(opened.answer.text("render.frame_url"), cards.declined);
  await page.goto(opened.link);
  await payWith(page, cards.declined);
  await seeScreen(page, "This payment was canceled");
  await page.getByText("Too many cards were declined").waitFor();
  assert.equal(await checkExitLink(page), "canceled");
  await isFound(page, opened);
});

inBrowser("a buyer can cancel 3-D Secure, by one button, and pay again, or return to the shop", async ({ page }) => {
  await page.goto((await order()).link);
  await payWith(page, cards.needsChallenge);
  await seeScreen(page, "Your bank wants to check");
  assert.equal(await page.locator("h1:visible, h2:visible").count(), 1, "one heading");
  assert.equal(await page.frameLocator("iframe").locator("h1:visible, h2:visible").count(), 0);
  assert.equal(await page.getByText("Cancel", { exact: false }).filter({ visible: true }).count(), 0);
  await page.frameLocator("iframe").getByRole("button", { name: "Cancel and go back" }).click();
  await page.getByRole("alert").getByText("You canceled your bank's check").waitFor();
  assert.equal(await checkExitLink(page), "open");
  await payWith(page, cards.succeeds);
  await seeScreen(page, "Payment successful");
});

inBrowser("a slow payment shows a reference that the merchant can search", async ({ page }) => {
  const opened = await order();
  await page.route("**/confirm?*", (route) => route.abort());
  await page.goto(opened.link);
  await payWith(page, cards.asynchronous);
  await seeScreen(page, "Your payment is being processed");
  await quotes(page, /^Reference pay_\w{14}$/);
  const [, quoted = ""] = /(pay_\w{14})/.exec(await page.locator(".facts").innerText()) ?? [];
  const found = (await site.merchant.api.get(`/v1/payments?q=${quoted}`)).expect(200).list("data");
  assert.equal(membersOf(found[0]).id, opened.id.replace("cs_", "pay_"));
  assert.equal(await checkExitLink(page), "processing");
});

inBrowser("a buyer who waits for a bank can return to the shop with status processing", async ({ page }) => {
  const success = "https://lemonbooks.example/thanks?order=7#top";
  const opened = await order({ success_url: success });
  await page.goto(opened.link);
  await page.route("**/form/*/pay", () => {}); // never answered
  await payWith(page, cards.succeeds);
  await page.locator('.pay-view[data-state="submitting"]').waitFor();
  await page.reload();
  await seeScreen(page, "Checking your payment");
  assert.equal(await checkExitLink(page), "processing");
  const href = await page.getByRole("link", { name: "Return to Lemon Books" }).getAttribute("href");
  assert.equal(new URL(href ?? "").pathname, "/thanks", "the success URL, not the cancel URL");
});

inBrowser("an incomplete link and a lost connection show the reference", async ({ page }) => {
  const opened = await order();
  await page.goto(opened.link.slice(0, -6));
  await seeScreen(page, "This link is not valid");
  assert.equal(page.url(), opened.link.slice(0, -6), "the buyer can correct it in the address bar");
  await page.getByRole("link", { name: "help@lemonbooks.example" }).waitFor();
  await isFound(page, opened);
  await page.route(answers(opened), (route) => route.abort());
  await page.goto(opened.link); // another fragment in the same tab
  await seeScreen(page, "No connection");
  await isFound(page, opened);
  await page.goto(`${opened.link.split("/c/")[0]}/c/cs_01jd3v9q6k8m2n4p6r8t0v2x4z#${opened.secret}`);
  await seeScreen(page, "This link is not valid");
  assert.equal(await page.locator(".facts").count(), 0, "no reference for an unknown id");
});

inBrowser("quotes the merchant's own order number", async ({ page }) => {
  await page.goto((await order({ reference: "LB-2026-7" })).link);
  await page.getByText("Reference: LB-2026-7").waitFor();
  await payWith(page, cards.succeeds);
  await seeScreen(page, "Payment successful");
  await quotes(page, /Reference LB-2026-7/);
});

inBrowser("a blocked form leaves merchant, amount, reference and help on the page", async ({ page }) => {
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

inBrowser("an unsupported surface and a server error show a reference and the return link", async ({ page }) => {
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
  "without JavaScript the page shows its requirement, merchant, reference and support address",
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

inBrowser("explains after a while that its script did not load, with the support address", async ({ page }) => {
  await page.route("**/c/files/page-*.js", (route) => route.abort());
  const { link, id } = await order();
  await page.goto(link);
  assert.equal(await page.getByText("This is taking longer than usual").isVisible(), false);
  await page.getByText("This is taking longer than usual").waitFor();
  await page.getByRole("link", { name: "help@lemonbooks.example" }).waitFor();
  await page.getByText(id.replace("cs_", "pay_").slice(0, 18)).waitFor();
});

test.run();
