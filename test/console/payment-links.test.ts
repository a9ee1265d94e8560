// Payment links in the console and at the buyer: made once, shown again at any time, sold as often as there is stock,
// paid for with the typed amount, mailed, and closed.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { fillCard, formReady, seeScreen } from "../browser/buyer.ts";
import { axeViolations } from "../browser/page-suite.ts";
import { browserSuite, desktop, phone, takeScreenshot } from "../harness/browser.ts";
import { mailTo, openAs, signInNew, startConsoleStack } from "../harness/console.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards, payInFrame } from "../harness/pay.ts";
import { fixture, suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { type Person, personOf } from "./person.ts";

const test = suite("console payment links", { timeoutMs: 180_000, hookTimeoutMs: 180_000 });
const visit = browserSuite(test);
let stateDir: string;
const running = fixture(test, async () => {
  stateDir = await tempDir("stack");
  return await startConsoleStack({ shape: "one", stateDir });
});
const merchant = fixture(test, () => freshMerchant(running.stack));
let base: string;

test.before(async () => {
  base = `/${merchant.id}/sandbox`;
  const look = { display_name: "Lemon Books", support_email: "help@lemonbooks.example", accent_color: "#0a7d4f" };
  (await merchant.api.patch("/v1/merchants/me/branding", look)).expect(200);
});

const sessions = async (query: string) =>
  (await merchant.api.get(`/v1/checkout-sessions?${query}`)).expect(200).number("total");

async function owner(email: string): Promise<Person> {
  const opened = await openAs(visit, running.stack, { email, merchantId: merchant.id });
  return await personOf(opened, running.stack, "/account");
}

/** Pays at the hosted page. */
async function pay(page: Page): Promise<void> {
  await formReady(page);
  await fillCard(page.frameLocator("iframe"), cards.succeeds);
  await page.locator("button.pay").click();
  await page.locator(".sign-done").waitFor();
}

visit(
  "a link with a stock of two is sold twice, to buyers who open it at any time, and is then sold out",
  async ({ page, context }) => {
    await signInNew({ page, context }, running.stack, { email: "stock@example.com", merchantId: merchant.id });
    await page.goto(`${running.stack.console}${base}/links`);
    await page.getByRole("link", { name: "New payment link" }).click();
    await page.getByLabel("Reusable").check();
    assert.equal(await page.getByLabel("Customer email").isVisible(), false, "only of a link for one payment");
    await page.getByLabel("Amount", { exact: true }).fill("30.00");
    await page.getByLabel("How many can be sold").fill("2");
    await page.getByLabel("Description").fill("Lemon tree <b>120 cm</b>");
    await takeScreenshot(page, "link-form-en-desktop");
    await page.getByRole("button", { name: "Create link" }).click();
    await page.getByText("Payment link created.").waitFor();
    const address = page.url().split("?")[0] ?? "";
    const link = (await page.locator(".made-link code").textContent()) ?? "";
    assert.match(link, /\/l\/pl_[0-9a-z]{26}$/);
    await page.goto(`${running.stack.console}${base}/links`);
    assert.equal(await page.locator(".copyable code").first().textContent(), link, "the list shows it again");
    for (const viewport of [desktop, phone]) {
      const { page: buyer, close } = await visit.open({ viewport, bypassCSP: true });
      await buyer.goto(`${link}).`); // as a chat program appends
      await buyer.getByText("Lemon tree <b>120 cm</b>").waitFor();
      assert.deepEqual(await axeViolations(buyer), []);
      await takeScreenshot(buyer, `link-en-${viewport === phone ? "phone" : "desktop"}`);
      await buyer.getByRole("button", { name: "Continue to payment" }).click();
      await pay(buyer);
      assert.equal(await buyer.getByRole("link", { name: /^Return to/ }).count(), 0, "a sold link is no way back");
      await close();
    }
    const { page: late, close } = await visit.open({ viewport: phone, locale: "de-DE" });
    await late.goto(link);
    await seeScreen(late, "Ausverkauft");
    await takeScreenshot(late, "link-sold-out-de-phone");
    await close();
    await page.goto(address);
    await page.getByText("2 of 2").waitFor();
    await takeScreenshot(page, "link-page-en-desktop");
    await page.getByRole("link", { name: "View its checkouts" }).click();
    await page.getByRole("link", { name: "$30.00" }).nth(1).waitFor();
    assert.equal(await page.getByRole("link", { name: "$30.00" }).count(), 2);
    await page.getByRole("link", { name: "$30.00" }).first().click();
    await page.getByRole("link", { name: /^pl_/ }).click();
    await page.waitForURL(address);
  },
  { viewport: desktop },
);

visit(
  "a buyer types the amount within the bounds, without a script, and opening the link alone makes nothing",
  async ({ page, context }) => {
    await signInNew({ page, context }, running.stack, { email: "chosen@example.com", merchantId: merchant.id });
    await page.goto(`${running.stack.console}/account`);
    await page.getByLabel("Language").selectOption("de");
    await page.getByRole("button", { name: "Save" }).click();
    await page.goto(`${running.stack.console}${base}/links/new`);
    await page.getByLabel("Mehrmals").check();
    await page.getByLabel("Käufer wählen den Betrag").check();
    await page.getByLabel("Mindestbetrag").fill("5");
    await page.getByLabel("Höchstbetrag").fill("100,00");
    await page.getByLabel("Bestellnummer").fill("SPENDE");
    await page.setViewportSize(phone);
    await takeScreenshot(page, "link-form-de-phone");
    await page.getByRole("button", { name: "Link erstellen" }).click();
    await page.getByText("Zahlungslink erstellt.").waitFor();
    await takeScreenshot(page, "link-page-de-phone");
    const link = (await page.locator(".made-link code").textContent()) ?? "";
    const { page: plain, close } = await visit.open({ javaScriptEnabled: false });
    const before = await sessions("");
    await plain.goto(link);
    await plain.goto(`${link}?utm_source=mail`);
    assert.equal(await sessions(""), before);
    for (const typed of ["4.99", "100.01", "abc", "1e3", "10.999", "-5"]) {
      await plain.getByLabel("Amount (USD)").or(plain.getByLabel("Amount (EUR)")).fill(typed);
      await plain.getByRole("button", { name: "Continue to payment" }).click();
      await plain.getByRole("alert").getByText("Enter an amount from").waitFor();
      assert.equal(await plain.locator("#amount").inputValue(), typed);
    }
    await takeScreenshot(plain, "link-amount-en-desktop");
    assert.equal(await sessions(""), before);
    await close();
    const { page: buyer, close: leave } = await visit.open({ viewport: phone });
    await buyer.goto(link);
    await buyer.locator("#amount").fill("12,30");
    await buyer.getByRole("button", { name: "Continue to payment" }).click();
    await formReady(buyer);
    assert.ok(!buyer.url().includes("cs_secret"), "the secret leaves the address bar");
    await buyer.getByRole("link", { name: "Cancel and return" }).click();
    await buyer.locator("#amount").waitFor();
    await buyer.goBack();
    await pay(buyer);
    const paid = (await merchant.api.get("/v1/payments?reference=SPENDE")).expect(200);
    assert.deepEqual([paid.number("total"), paid.number("data.0.captured_amount")], [1, 1230]);
    await leave();
  },
  { viewport: desktop },
);

visit.alone(
  "mails a link for one payment, again on request, and closes it; no log has a session's secret",
  async () => {
    const { page } = await openAs(visit, running.stack, { email: "mails@example.com", merchantId: merchant.id });
    await page.goto(`${running.stack.console}${base}/links/new`);
    await page.getByLabel("Amount", { exact: true }).fill("12.30");
    await page.getByLabel("Email the link to this address").check();
    await page.getByRole("button", { name: "Create link" }).click();
    await page.getByText("enter an address like name@example.com").first().waitFor();
    await page.getByLabel("Customer email").fill("buyer-of-links@example.com");
    await page.getByLabel("Order number").fill("L-77");
    await page.getByLabel("Page language").selectOption({ label: "German" });
    await page.getByRole("button", { name: "Create link" }).click();
    await page.getByText("We've sent the link to your customer.").waitFor();
    const link = (await page.locator(".made-link code").textContent()) ?? "";
    const mail = await mailTo(running.stack, "buyer-of-links@example.com");
    assert.match(mail.subject, /^\[Sandbox\] .+ bittet um eine Zahlung$/);
    for (const fragment of [link, "12,30"]) assert.ok(mail.text.includes(fragment), fragment);
    assert.ok(!mail.text.includes("L-77"), "a sandbox email omits the shop's texts");
    const { page: buyer, close } = await visit.open({ viewport: phone });
    const urls: string[] = [];
    for (const _ of [1, 2]) {
      await buyer.goto(link);
      await buyer.getByRole("button", { name: "Weiter zur Zahlung" }).click();
      await formReady(buyer);
      urls.push(buyer.url());
    }
    assert.equal(new Set(urls).size, 1, "every opening is the same payment");
    await page.getByText("Email this link").first().click();
    await page.getByLabel("Customer email").fill("second@example.com");
    await page.getByRole("button", { name: "Email this link" }).click();
    await page.getByText("We've sent the link to your customer.").waitFor();
    assert.ok((await mailTo(running.stack, "second@example.com")).text.includes(link));
    await page.getByText("Close link", { exact: true }).click();
    await page.getByRole("button", { name: "Close link now" }).click();
    await page.getByText("Payment link closed.").waitFor();
    await pay(buyer);
    await buyer.goto(link);
    await seeScreen(buyer, "Diese Zahlung ist bereits erfolgt");
    const all = (await (await fetch(`${running.stack.mailbox}/mails.json`)).json()) as readonly {
      readonly to: string;
    }[];
    assert.equal(all.filter(({ to }) => to.includes("buyer-of-links@example.com")).length, 1);
    for (const log of await logs(stateDir)) assert.ok(!log.includes("cs_secret_"), "a log holds a session's secret");
    await close();
  },
);

/** Logs of the stack's processes. */
async function logs(folder: string): Promise<string[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".log"));
  assert.ok(names.length > 0, "there are logs");
  return await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
}

visit.alone("creates one link for a form that is sent eight times at once", async () => {
  const person = await owner("eight@example.com");
  const path = `${base}/links/new`;
  const fields = await person.fieldsOf(path, path);
  const send = () => person.post(path, { ...fields, amount: "7.77", currency: "EUR", reference: "once-only" });
  const answers = await Promise.all(Array.from({ length: 8 }, send));
  const again = await send();
  assert.match(again.location, /\/links\/pl_\w+\?done=link-created$/);
  for (const { status, location } of answers) if (status === 303) assert.equal(location, again.location);
  const list = await person.get(`${base}/links?q=once-only`);
  assert.equal(list.text.match(/<tr>/g)?.length, 2, "the heading and one link");
});

visit.alone("rejects an invalid link next to its field and keeps the input", async () => {
  const person = await owner("wronglink@example.com");
  const path = `${base}/links/new`;
  const right = { ...(await person.fieldsOf(path, path)), kind: "single", amount: "5.00", currency: "EUR" };
  const chosen = { kind: "reusable", pricing: "chosen", least: "5.00", most: "10.00" };
  const wrong: Record<string, string>[] = [
    { amount: "0" },
    { amount: "1000000.00" },
    { amount: "1.005" },
    { currency: "XXX" },
    { currency: "JPY", amount: "5.00" },
    { email: "no-address" },
    { reference: "a\u0007b" },
    { description: "x".repeat(256) },
    { item_name_0: "Tree", item_quantity_0: "1", item_amount_0: "4.00" },
    { amount: "", item_name_0: "", item_quantity_0: "1", item_amount_0: "4.00" },
    { amount: "", item_name_0: "Tree", item_quantity_0: "0", item_amount_0: "4.00" },
    { ...chosen, most: "5.00" },
    { ...chosen, least: "" },
    { ...chosen, most: "1000000.00" },
    { ...chosen, stock: "1" },
    { kind: "reusable", stock: "10001" },
    { kind: "reusable", stock: "-2" },
  ];
  for (const change of wrong) {
    const { status, text } = await person.post(path, { ...right, description: "kept", ...change });
    assert.equal(status, 422, JSON.stringify(change));
    assert.match(text, /class="problems"/);
    if (!("description" in change)) assert.match(text, /value="kept"/);
  }
});

visit.alone("keeps a checkout paid that is paid while a member ends it, and finds it at its old address", async () => {
  const person = await owner("race@example.com");
  const made = (await merchant.api.post("/v1/checkout-sessions", { amount: 900, currency: "EUR" })).expect(201);
  const id = made.text("id");
  assert.equal((await person.get(`${base}/links/${id}`)).location, `${base}/checkouts/${id}`);
  await payInFrame(made.text("render.frame_url"), cards.succeeds);
  const answer = await person.post(`${base}/checkouts/${id}/end`);
  assert.match(answer.location, /done=checkout-paid/);
  assert.equal((await merchant.api.get(`/v1/checkout-sessions/${id}`)).text("status"), "completed");
});

test.run();
