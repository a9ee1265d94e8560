// The simulator's methods other than cards, in a real browser: a bank that the buyer confirms in another window, and a
// debit that settles later. No path charges a buyer twice, or one who gave up.
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import * as assert from "uvu/assert";
import { browserPath } from "../../harness/browser.ts";
import { eventually } from "../../harness/eventually.ts";
import { debits } from "../../harness/pay.ts";
import { suite } from "../../harness/suite.ts";
import { type SimulatorRig, startRig } from "./service.ts";

const test = suite("simulator-methods", { timeoutMs: 30_000 });
const all = { payment_methods: ["card", "ideal", "sepa_debit"] };
let rig: SimulatorRig;
let browser: Browser | undefined;

test.before(async () => {
  rig = await startRig();
  if (!browserPath) return;
  const args = ["--disable-dev-shm-usage", "--disable-gpu"];
  browser = await chromium.launch({ executablePath: browserPath, chromiumSandbox: process.getuid?.() !== 0, args });
});
test.after(async () => {
  await browser?.close();
  await rig?.stop();
});

function inBrowser(name: string, body: (page: Page, context: BrowserContext) => Promise<void>) {
  if (!browserPath) return test.skip(name, "no Chromium found");
  test(name, async () => {
    const context = await browser?.newContext({ viewport: { width: 360, height: 740 }, locale: "en-IE" });
    if (!context) throw new Error("no browser");
    await body(await context.newPage(), context);
    await context.close();
  });
}

const read = async (id: string) => (await rig.call("GET", `/api/intents/${id}`)).body;
const until = (id: string, status: string) =>
  eventually(`${id} is ${status}`, async () => (await read(id)).status === status);

/** Opens the form, chooses the test bank and goes there. @returns the id, and the bank's window */
async function atBank(page: Page, context: BrowserContext): Promise<{ id: string; bank: Page }> {
  const { id, client_secret } = await rig.intent(all);
  await page.goto(`${rig.url}/form/${id}#${client_secret}`);
  await page.getByLabel("iDEAL").check();
  await page.getByRole("button", { name: /^Pay / }).click();
  const opened = context.waitForEvent("page");
  await page.getByRole("link", { name: "Open your bank" }).click();
  const bank = await opened;
  await bank.getByRole("heading", { name: "Test Bank" }).waitFor();
  assert.is((await read(id)).status, "requires_action");
  return { id, bank };
}

inBrowser("a buyer pays at the bank, and the form shows it", async (page, context) => {
  const { id, bank } = await atBank(page, context);
  await bank.getByRole("button", { name: "Pay", exact: true }).click();
  await bank.getByRole("heading", { name: "Payment successful" }).waitFor();
  await page.getByRole("heading", { name: "Payment successful" }).waitFor();
  const [attempt] = (await read(id)).attempts;
  assert.equal(attempt?.payment_method, { type: "ideal", bank: { country: "NL", last4: "0300" } });
  assert.equal([attempt?.card, attempt?.verification], [null, null]);
  await page.goto((await page.getAttribute("#result-link", "href")) ?? "");
  await page.getByText("iDEAL ending in 0300").waitFor();
});

inBrowser("a buyer refuses at the bank and pays by card", async (page, context) => {
  const { id, bank } = await atBank(page, context);
  await bank.getByRole("button", { name: "Refuse" }).click();
  await page.getByRole("alert").getByText("Your bank did not confirm").waitFor();
  await page.getByLabel("Card", { exact: true }).check();
  await page.locator("#number").fill("4242424242424242");
  await page.locator("#expiry").fill("12 / 40");
  await page.locator("#cvc").fill("123");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Payment successful" }).waitFor();
  const { attempts } = await read(id);
  assert.equal(
    attempts.map(({ payment_method: { type }, status }) => [type, status]),
    [
      ["ideal", "failed"],
      ["card", "succeeded"],
    ],
  );
});

inBrowser(
  "a buyer closes the bank's window, and either returns to it or chooses another method",
  async (page, context) => {
    const { id, bank } = await atBank(page, context);
    await bank.close();
    const again = context.waitForEvent("page");
    await page.getByRole("link", { name: "Open your bank" }).click();
    await (await again).close();
    await page.getByRole("button", { name: "Pay in another way" }).click();
    await page.getByRole("alert").waitFor();
    assert.is((await read(id)).status, "requires_payment_method");
  },
);

inBrowser(
  "a buyer who pays at the bank and never comes back has paid, one who leaves has not",
  async (page, context) => {
    const paying = await atBank(page, context);
    await page.close();
    await paying.bank.getByRole("button", { name: "Pay", exact: true }).click();
    await until(paying.id, "succeeded");
    const leaving = await atBank(await context.newPage(), context);
    await context.close();
    const { body } = await rig.call("POST", `/api/intents/${leaving.id}/cancel`, {});
    assert.equal([body.status, body.captured_amount], ["canceled", 0]);
  },
);

inBrowser("a debit is checked, processing, and then paid", async (page) => {
  const { id, client_secret } = await rig.intent(all);
  await page.goto(`${rig.url}/form/${id}#${client_secret}`);
  await page.getByLabel("SEPA Direct Debit").check();
  await page.getByLabel("IBAN").fill("DE00 3704 0044 0532 0130 00");
  await page.getByRole("button", { name: /^Pay / }).click();
  await page.getByText("This IBAN is not valid.").waitFor();
  assert.is((await read(id)).attempts.length, 0);
  await page.getByText("Test cards").click();
  await page.locator(`[data-card="${debits.settles}"]`).click();
  await page.getByRole("button", { name: /^Pay / }).click();
  await page.getByRole("heading", { name: "Payment is being processed" }).waitFor();
  await page.getByRole("heading", { name: "Payment successful" }).waitFor();
});

test("a debit fails or comes back by its account, and the money with it", async () => {
  const pay = async (card: string) => {
    const { id } = await rig.intent(all);
    assert.is(
      (await rig.call<{ status: string }>("POST", `/test/intents/${id}/pay`, { card })).body.status,
      "processing",
    );
    return id;
  };
  const failed = await pay(debits.fails);
  await until(failed, "requires_payment_method");
  assert.is((await read(failed)).attempts[0]?.failure_code, "debit_failed");
  const returned = await pay(debits.returned);
  await eventually("the return", async () => (await read(returned)).attempts[0]?.failure_code === "debit_returned");
  assert.is((await read(returned)).captured_amount, 0);
});

test("an intent offers only its methods, and no debit that would be captured later", async () => {
  const { id, client_secret } = await rig.intent();
  const pay = await rig.call<{ error: { field: string } }>("POST", `/form/${id}/pay`, {
    client_secret,
    method: "ideal",
  });
  assert.equal([pay.status, pay.body.error.field], [400, "method"]);
  const order = { amount: 1_050, currency: "EUR", reference: "pay_methods" };
  for (const members of [
    { payment_methods: ["ideal", "barter"] },
    { payment_methods: [] },
    { payment_methods: ["sepa_debit"], capture_method: "manual" },
  ]) {
    assert.is((await rig.call("POST", "/api/intents", { ...order, ...members })).status, 400);
  }
});

test.run();
