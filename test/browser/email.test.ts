// The e-mail field of the hosted page: shown if the merchant wants it and the session has no e-mail, saved before the
// payment, and never blocking a payment if optional.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { eventually } from "../harness/eventually.ts";
import { cards } from "../harness/pay.ts";
import { formReady, newOrder, type Order, payButton, seeScreen, typeCard } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("e-mail field", { timeoutMs: 60_000 });
const ask = async (mode: string) =>
  (await site.merchant.api.patch("/v1/merchants/me/branding", { email_field: mode })).expect(200);
const emailOf = async ({ id }: Order) =>
  (await site.merchant.api.get(`/v1/checkout-sessions/${id}`)).expect(200).at("customer_email");
const field = (page: Page) => page.getByRole("textbox", { name: /^E-mail/ });

async function opened(page: Page, change: Record<string, unknown> = {}): Promise<Order> {
  const order = await newOrder(site.merchant, change);
  await page.goto(order.link);
  await formReady(page);
  return order;
}

inBrowser("is hidden by default and if the session has an e-mail", async ({ page }) => {
  await ask("hidden");
  await opened(page);
  assert.equal(await field(page).count(), 0);
  await ask("required");
  await opened(page, { customer_email: "own@example.com" });
  assert.equal(await field(page).count(), 0);
});

inBrowser("an optional e-mail may stay empty and is saved before the payment", async ({ page }) => {
  await ask("optional");
  const silent = await opened(page);
  await typeCard(page, cards.succeeds);
  await payButton(page).click();
  await seeScreen(page, "Payment successful");
  assert.equal(await emailOf(silent), undefined);
  const typed = await opened(page);
  await typeCard(page, cards.succeeds);
  let atPayment: unknown;
  await page.route("**/form/*/pay", async (route) => {
    atPayment = await emailOf(typed);
    await route.continue();
  });
  await page.getByLabel("E-mail (optional)").fill("ada@example.com");
  await payButton(page).click();
  await seeScreen(page, "Payment successful");
  assert.equal(atPayment, "ada@example.com");
});

inBrowser("a missing or invalid required e-mail sends nothing and shows the problem", async ({ page }) => {
  await ask("required");
  const order = await opened(page);
  await typeCard(page, cards.succeeds);
  let isSent = false;
  page.on("request", (request) => (isSent ||= /\/(email|pay|confirm)\b/.test(new URL(request.url()).pathname)));
  for (const wrong of ["", "ada", "ada@"]) {
    await field(page).fill(wrong);
    await payButton(page).click();
    await page.getByText("Enter a valid e-mail address.").waitFor();
    assert.equal(await field(page).getAttribute("aria-invalid"), "true");
    assert.equal(await page.evaluate("document.activeElement?.id"), "email");
  }
  assert.equal(isSent, false);
  await field(page).fill("ada@localhost"); // accepted by the browser but not by the service
  await payButton(page).click();
  await page.getByText("Enter a valid e-mail address.").waitFor();
  await field(page).fill("ada@example.com");
  await payButton(page).dblclick();
  await seeScreen(page, "Payment successful");
  assert.equal(await emailOf(order), "ada@example.com");
});

inBrowser("the latest e-mail wins across tabs and declines", async ({ page, context }) => {
  await ask("required");
  const order = await opened(page);
  const other = await context.newPage();
  await other.goto(order.link);
  await formReady(other);
  await field(other).fill("other@example.com");
  await field(other).blur();
  await eventually("the other tab's", async () => (await emailOf(order)) === "other@example.com");
  await typeCard(page, cards.declined);
  await field(page).fill("first@example.com");
  await payButton(page).click();
  await page.getByRole("alert").getByText("declined").waitFor();
  assert.equal(await emailOf(order), "first@example.com");
  await field(page).fill("last@example.com");
  await typeCard(page, cards.succeeds);
  await payButton(page).click();
  await seeScreen(page, "Payment successful");
  assert.equal(await emailOf(order), "last@example.com");
});

inBrowser("a failed save blocks the payment only if the e-mail is required", async ({ page }) => {
  await page.route("**/email?*", (route) => route.abort());
  await ask("required");
  await opened(page);
  await typeCard(page, cards.succeeds);
  await field(page).fill("ada@example.com");
  await payButton(page).click();
  await page.getByText("You seem to be offline").waitFor();
  await ask("optional");
  await opened(page);
  await typeCard(page, cards.succeeds);
  await field(page).fill("ada@example.com");
  await payButton(page).click();
  await seeScreen(page, "Payment successful");
});

test.run();
