// Buyers pay on the hosted page by a bank and by a debit: they pay, refuse, close the bank's window or never come back.
// The merchant reads what happened by the method's name.
import assert from "node:assert/strict";
import type { BrowserContext, Page } from "playwright-core";
import { membersOf } from "#platform/values/unchecked.ts";
import type { Answer } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { cards, debits, bank as testBank } from "../harness/pay.ts";
import { formReady, newOrder, type Order, payButton, payWithTestCard, seeScreen, typeCard } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("methods");

test.before(async () => {
  const { api } = site.merchant;
  const id = (await api.get("/v1/merchants/me/connectors")).text("data.0.id");
  const payment_methods = ["card", "ideal", "sepa_debit"];
  (await api.patch(`/v1/merchants/me/connectors/${id}`, { payment_methods })).expect(200);
});

const sessionOf = async ({ id }: Order) => (await site.merchant.api.get(`/v1/checkout-sessions/${id}`)).expect(200);

async function paymentWhen(order: Order, is: (payment: Answer) => boolean): Promise<Answer> {
  return await eventually("the payment", async () => {
    const id = (await sessionOf(order)).at("payment_id");
    const payment = typeof id === "string" ? await site.merchant.api.get(`/v1/payments/${id}`) : undefined;
    return payment?.status === 200 && is(payment) ? payment : undefined;
  });
}

/** Chooses the test bank, presses Pay, and opens the bank's window. */
async function atBank(page: Page, context: BrowserContext, order: Order): Promise<Page> {
  await page.goto(order.link);
  await payWithTestCard(page, testBank);
  const opened = context.waitForEvent("page");
  await page.frameLocator("iframe").getByRole("link", { name: "Open your bank" }).click();
  return await opened;
}

inBrowser("a buyer pays at the bank, and the payment has the method's name and account", async ({ page, context }) => {
  const order = await newOrder(site.merchant);
  const bank = await atBank(page, context, order);
  await bank.getByRole("button", { name: "Pay", exact: true }).click();
  await seeScreen(page, "Payment successful");
  const payment = await paymentWhen(order, (each) => each.at("status") === "succeeded");
  assert.deepEqual(payment.at("payment_method"), { type: "ideal", bank: { country: "NL", last4: "0300" } });
  assert.equal(payment.at("card"), undefined);
  const listed = (await site.merchant.api.get("/v1/payments")).list("data").map(membersOf);
  assert.deepEqual(listed.find(({ id }) => id === payment.at("id"))?.payment_method, payment.at("payment_method"));
  const receipt = await page
    .getByRole("link", { name: /receipt/i })
    .first()
    .getAttribute("href");
  await page.goto(receipt ?? "");
  await page.getByText("iDEAL ending in 0300").waitFor();
  const refund = await site.merchant.api.post(`/v1/payments/${payment.text("id")}/refunds`, { amount: 50 });
  assert.equal(refund.expect(201).at("refunded"), 50);
});

inBrowser("a buyer refuses at the bank, and pays by card in the same session", async ({ page, context }) => {
  const order = await newOrder(site.merchant);
  const bank = await atBank(page, context, order);
  await bank.getByRole("button", { name: "Refuse" }).click();
  await page.getByRole("alert").waitFor();
  await page.frameLocator("iframe").getByLabel("Card", { exact: true }).check();
  await typeCard(page, cards.succeeds);
  await payButton(page).click();
  await seeScreen(page, "Payment successful");
  const payment = await paymentWhen(order, (each) => each.at("status") === "succeeded");
  const attempts = payment.list("attempts").map(membersOf);
  assert.deepEqual(
    attempts.map(({ outcome, payment_method: method }) => [outcome, membersOf(method).type]),
    [
      ["failed", "ideal"],
      ["succeeded", "card"],
    ],
  );
  assert.equal(payment.at("card.last4"), "4242");
});

inBrowser("a buyer who closes the bank's window chooses another method", async ({ page, context }) => {
  const order = await newOrder(site.merchant);
  await (await atBank(page, context, order)).close();
  await page.frameLocator("iframe").getByRole("button", { name: "Pay in another way" }).click();
  await page.getByRole("alert").waitFor();
  await payWithTestCard(page, cards.succeeds);
  await seeScreen(page, "Payment successful");
});

inBrowser("a buyer who pays at the bank and never comes back has paid", async ({ page, context }) => {
  const order = await newOrder(site.merchant);
  const bank = await atBank(page, context, order);
  await page.close();
  await bank.getByRole("button", { name: "Pay", exact: true }).click();
  await bank.close();
  await paymentWhen(order, (each) => each.at("status") === "succeeded");
  await eventually("the session", async () => (await sessionOf(order)).at("status") === "completed");
});

inBrowser(
  "a buyer who leaves the bank and never comes back has not paid, and the session ends",
  async ({ page, context }) => {
    const order = await newOrder(site.merchant);
    const bank = await atBank(page, context, order);
    await Promise.all([page.close(), bank.close()]);
    const expired = (await site.merchant.api.post(`/v1/checkout-sessions/${order.id}/expire`)).expect(200);
    assert.equal(expired.at("status"), "expired");
    const list = (await site.merchant.api.get(`/v1/payments?status=succeeded&reference=${order.id}`)).expect(200);
    assert.equal(list.number("total"), 0);
  },
);

inBrowser(
  "a debit is processing and then paid; one that fails can be tried again; one that is returned is failed",
  async ({ page }) => {
    const settles = await newOrder(site.merchant, { payment_methods: ["sepa_debit"] });
    await page.goto(settles.link);
    await formReady(page);
    assert.equal(
      await page.locator(`[data-card="${cards.succeeds}"]`).count(),
      0,
      "the session offers the debit alone",
    );
    await payWithTestCard(page, debits.settles);
    await seeScreen(page, "Your payment is being processed");
    await seeScreen(page, "Payment successful");
    const debit = { type: "sepa_debit", bank: { country: "DE", last4: "3000" } };
    const paid = await paymentWhen(settles, (each) => each.at("status") === "succeeded");
    assert.deepEqual(paid.at("payment_method"), debit);
    const fails = await newOrder(site.merchant);
    await page.goto(fails.link);
    await payWithTestCard(page, debits.fails);
    await page.getByRole("alert").waitFor();
    await payWithTestCard(page, cards.succeeds);
    await seeScreen(page, "Payment successful");
    const returned = await newOrder(site.merchant);
    await page.goto(returned.link);
    await payWithTestCard(page, debits.returned);
    await seeScreen(page, "Payment successful");
    const after = await paymentWhen(returned, (each) => each.at("status") === "failed");
    assert.deepEqual(
      [after.at("failure.code"), after.at("captured_amount"), after.at("net_amount")],
      ["returned", 0, 0],
    );
  },
);

test.run();
