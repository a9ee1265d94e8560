// Every money screen of the merchants' console is accessible (axe), fits a small phone and stays small in bytes.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { databaseUrlOf } from "../../deploy/local/databases.ts";
import { browserSuite, desktop, type Visit } from "../harness/browser.ts";
import { sharedConsoles, signInNew } from "../harness/console.ts";
import { openDatabase } from "../harness/database.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { makeMovement, makePayout, ProcessorLists } from "../harness/payments/processor-lists.ts";
import { fixture, suite } from "../harness/suite.ts";
import { disputedPurchase, makePurchase } from "./purchases.ts";
import { assertFitsPhone, assertUsable } from "./usable.ts";

const test = suite("console money screens", { timeoutMs: 240_000, hookTimeoutMs: 240_000 });
const inBrowser = browserSuite(test);
// Fits into the first round trip of a warm connection.
const pageBytesMax = 30_000;
const stack = fixture(test, sharedConsoles);
const merchant = fixture(test, () => freshMerchant(stack));
let visit: Visit;
const ids = { paid: "", declined: "", held: "", session: "", dispute: "", payout: "", failedPayout: "" };

test.before(async () => {
  const paid = await makePurchase(stack, merchant, { reference: "order-1042", metadata: { cart: "77" } });
  (await merchant.api.post(`/v1/payments/${paid.payment}/refunds`, { amount: 1_000, reason: "Broken pot" })).expect(
    201,
  );
  const declined = await makePurchase(stack, merchant, { reference: "order-1043" }, cards.declined);
  const held = await makePurchase(stack, merchant, { capture_method: "manual", amount: 12_000 });
  const { dispute } = await disputedPurchase(stack, merchant);
  await fillBalance();
  const month = { type: "payments", from: "2026-11-01", to: "2026-12-01", timezone: "Europe/Berlin" };
  (await merchant.api.post("/v1/reports", month)).expect(201);
  Object.assign(ids, {
    paid: paid.payment,
    declined: declined.payment,
    held: held.payment,
    session: paid.session,
    dispute,
  });
  visit = await inBrowser.open({ bypassCSP: true, viewport: desktop });
  await signInNew(visit, stack, {
    email: "screens@example.com",
    name: "Robin Example",
    merchantId: merchant.id,
  });
});

/** Movements in three currencies, a payout on its way and one that failed. */
async function fillBalance(): Promise<void> {
  const lists = new ProcessorLists(`screens_${merchant.id}`, merchant.id);
  const soon = { occurredAt: new Date(), availableAt: new Date(Date.now() + 86_400_000) };
  lists.movements = [
    makeMovement("m1"),
    makeMovement("m2", { amount: 129_900n, fee: 1_850n }),
    makeMovement("m3", { type: "refund", amount: -5_000n, fee: 0n }),
    makeMovement("m4", { currency: "CHF", amount: 9_412n, source: { amount: 10_000n, currency: "EUR" } }),
    makeMovement("m5", { type: "reserve", amount: -2_000n, fee: 0n }),
    makeMovement("m6", { amount: 8_800n, fee: 150n, ...soon }),
    makeMovement("p1", { type: "payout", amount: -124_010n, fee: 0n }),
  ];
  lists.payouts = [
    makePayout("po_1", { amount: 124_010n, arrivesAt: soon.availableAt }),
    makePayout("po_2", { amount: 700n, status: "failed", failureMessage: "The bank account does not exist." }),
  ];
  lists.lines.set("po_1", ["m1", "m2", "m3"]);
  const db = await openDatabase(databaseUrlOf(stack.database, "payments"));
  await lists.read(db);
  await db.close();
  const { body } = await merchant.api.get("/v1/payouts");
  const found = JSON.parse(JSON.stringify(body)).data as { id: string; status: string }[];
  ids.payout = found.find(({ status }) => status === "in_transit")?.id ?? "";
  ids.failedPayout = found.find(({ status }) => status === "failed")?.id ?? "";
}

const screens: { readonly name: string; readonly path: () => string }[] = [];

/** @param reach acts on the page before the check */
function screen(name: string, path: () => string, reach: (page: Page) => Promise<void> = async () => {}) {
  screens.push({ name, path });
  inBrowser.alone(`${name} is accessible`, async () => {
    const { page } = visit;
    const answer = await page.goto(`${stack.console}/${merchant.id}/sandbox${path()}`);
    assert.ok((answer?.status() ?? 500) < 300 || answer?.status() === 422);
    assert.ok(Number(answer?.headers()["content-length"] ?? 0) < pageBytesMax);
    await reach(page);
    await unfold(page);
    await assertUsable(page, name);
  });
}

async function unfold(page: Page): Promise<void> {
  for (const details of await page.locator("main details:not(.menu)").all())
    await details.evaluate((element) => element.setAttribute("open", ""));
}

screen("home", () => "/home");
screen("payments", () => "/payments?from=2026-01-01");
screen("payments that no filter finds", () => "/payments?q=unknown");
screen("wrong filters", () => "/payments?min=abc&from=never&currency=XYZ");
screen("a paid payment", () => `/payments/${ids.paid}`);
screen("a declined payment", () => `/payments/${ids.declined}`);
screen("an authorized payment", () => `/payments/${ids.held}`);
screen("a refund", () => `/payments/${ids.paid}/refund`);
screen(
  "a wrong refund",
  () => `/payments/${ids.paid}/refund`,
  async (page) => {
    await page.getByLabel("Refund amount").fill("much");
    await page.getByRole("button", { name: "Refund", exact: true }).click();
    await page.locator(".problems").waitFor();
  },
);
screen("a capture", () => `/payments/${ids.held}/capture`);
screen("a cancellation", () => `/payments/${ids.held}/cancel`);
screen("refunds", () => "/refunds");
screen("disputes", () => "/disputes");
screen("all disputes", () => "/disputes?view=all");
screen("a dispute", () => `/disputes/${ids.dispute}`);
screen("an acceptance", () => `/disputes/${ids.dispute}/accept`);
screen("links", () => "/links");
screen("a new link", () => "/links/new");
screen(
  "a payment link",
  () => "/links/new",
  async (page) => {
    await page.getByLabel("Amount", { exact: true }).fill("12.50");
    await page.getByRole("button", { name: "Create link" }).click();
    await page.locator(".made-link").waitFor();
  },
);
screen("balance", () => "/balance");
screen("payouts", () => "/payouts");
screen("a payout", () => `/payouts/${ids.payout}`);
screen("a failed payout", () => `/payouts/${ids.failedPayout}`);
screen("reports", () => "/reports");
screen(
  "a wrong order of a report",
  () => "/reports",
  async (page) => {
    await page.getByRole("button", { name: "Order report" }).click();
    await page.locator(".problems").waitFor();
  },
);
screen("checkouts", () => "/checkouts");
screen("a checkout", () => `/checkouts/${ids.session}`);

inBrowser.alone("a payout is reached from home, and its file sums to its amount", async () => {
  const { page } = visit;
  await page.goto(`${stack.console}/${merchant.id}/sandbox/home`);
  await page.getByRole("main").getByRole("link", { name: "€1,240.10" }).click();
  await page.getByRole("heading", { name: "Transactions" }).waitFor();
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: /^Download 3 / }).click();
  const text = await readFile(await (await downloading).path(), "utf8");
  const [head = [], ...rows] = text
    .trim()
    .split("\r\n")
    .map((line) => line.replaceAll('"', "").split(","));
  const nets = rows.map((row) => Math.round(Number(row[head.indexOf("net")]) * 100));
  assert.deepEqual([nets.length, nets.reduce((sum, net) => sum + net, 0)], [3, 124_010]);
});

inBrowser.alone("fits every German screen on a small phone and translates all codes", async () => {
  const { page } = visit;
  await page.goto(`${stack.console}/account`);
  await page.getByLabel("Language").selectOption("de");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Konto gespeichert.").waitFor();
  for (const { name, path } of screens) {
    await page.goto(`${stack.console}/${merchant.id}/sandbox${path()}`);
    await unfold(page);
    await assertFitsPhone(page, `${name} German`);
    const words = await page.locator("main :is(dd, td, .chip, .timeline strong, .paging)").allInnerTexts();
    const codes = words.filter((text) => /\b(visa|credit|unchecked|pass|simulator|fraudulent|1 \w+en)\b/.test(text));
    assert.deepEqual(codes, [], name);
  }
});

test.run();
