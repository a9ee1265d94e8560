// The e-mail on the hosted page: asked for where the merchant wants it and the session has none, given before anything
// is paid, and never in the way of a payment that needs none.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { browserSuite } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { formReady, newOrder, type Order, payButton, seeScreen, typeCard } from "./buyer.ts";

const test = suite("the buyer's e-mail on the page", { timeoutMs: 60_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
let running: StackInfo;
let merchant: TestMerchant;

test.before(async () => {
  running = await stack();
  merchant = await freshMerchant(running);
});

const ask = async (mode: string) =>
  (await merchant.api.patch("/v1/merchants/me/branding", { email_field: mode })).expect(200);
const emailOf = async ({ id }: Order) =>
  (await merchant.api.get(`/v1/checkout-sessions/${id}`)).expect(200).at("customer_email");
const field = (page: Page) => page.getByRole("textbox", { name: /^E-mail/ });

async function opened(page: Page, change: Record<string, unknown> = {}): Promise<Order> {
  const order = await newOrder(merchant, change);
  await page.goto(order.link);
  await formReady(page);
  return order;
}

inBrowser("nobody is asked unless the merchant says so, nor where the session has an e-mail", async ({ page }) => {
  await ask("hidden");
  await opened(page);
  assert.equal(await field(page).count(), 0);
  await ask("required");
  await opened(page, { customer_email: "own@example.com" });
  assert.equal(await field(page).count(), 0);
});

inBrowser("one that may stay empty stays empty; one that is typed is there before the payment", async ({ page }) => {
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

inBrowser("without the one that is needed nothing is sent, and the field says why", async ({ page }) => {
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
  await field(page).fill("ada@localhost"); // the browser takes it, the service does not
  await payButton(page).click();
  await page.getByText("Enter a valid e-mail address.").waitFor();
  await field(page).fill("ada@example.com");
  await payButton(page).dblclick();
  await seeScreen(page, "Payment successful");
  assert.equal(await emailOf(order), "ada@example.com");
});

inBrowser("a later one counts, also from another tab; a decline in between keeps it", async ({ page, context }) => {
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

inBrowser(
  "while the service does not take it, who needs none pays all the same; who needs one is told",
  async ({ page }) => {
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
  },
);

test.run();
