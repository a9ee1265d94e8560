// The receipt of a paid session: it survives reload and another browser, follows refunds, and opens nothing else.
import assert from "node:assert/strict";
import { apiClient } from "../harness/api.ts";
import { desktop, phone, takeScreenshot } from "../harness/browser.ts";
import { cards, payInFrame } from "../harness/pay.ts";
import { confirmOrder, formReady, newOrder, type Order, payWith, seeScreen } from "./buyer.ts";
import { cutOff, seeTwoHalves } from "./layout.ts";
import { axeViolations, pageSuite } from "./page-suite.ts";

const branding = { display_name: "Lemon Books", support_email: "help@lemonbooks.example" };
const { test, inBrowser, site } = pageSuite("receipt", { branding });
const lines = [
  { name: "Ground coffee <1 kg>", quantity: 2, amount: 1980 },
  { name: "Voucher", quantity: 1, amount: -480 },
];
const order = (change: Record<string, unknown> = {}) =>
  newOrder(site.merchant, {
    ...{
      amount: 1500,
      description: "",
      line_items: lines,
      reference: "INV-77",
      success_url: "https://lemonbooks.example/thanks",
    },
    ...change,
  });

test.before(async () => {
  (await site.merchant.api.patch("/v1/merchants/me/profile", { legal_name: "Lemon Books GmbH" })).expect(200);
});

/** Pays without a page. @returns the address of the receipt */
async function paidReceipt(opened: Order): Promise<string> {
  await payInFrame(opened.answer.text("render.frame_url"));
  await confirmOrder(site.stack, opened);
  const path = `/v1/checkout/${opened.id}?secret=${opened.secret}`;
  return (await apiClient(site.stack.gateway).get(path)).expect(200).text("receipt_page_url");
}

const refund = async ({ id }: Order, amount: number) =>
  (await site.merchant.api.post(`/v1/payments/${id.replace("cs_", "pay_")}/refunds`, { amount })).expect(201);

inBrowser(
  "the paid page becomes a receipt with goods, order number and seller, after a reload and in another browser",
  async ({ page }) => {
    const opened = await order({ customer_email: "ada-receipt@example.com", success_url: undefined });
    await page.goto(opened.link);
    await payWith(page, cards.succeeds);
    await seeScreen(page, "Payment successful");
    assert.equal(await page.getByText("INV-77").filter({ visible: true }).count(), 1, "the order number once");
    await page.reload();
    const { page: other, close } = await inBrowser.open({ viewport: phone });
    await other.goto(page.url());
    for (const tab of [page, other]) {
      await seeScreen(tab, "Payment successful");
      const text = (await tab.locator("main").innerText()).replace(/\s+/g, " ");
      for (const part of ["€15.00", "Ground coffee <1 kg> × 2", "-€4.80", "INV-77", "Visa ending in 4242"])
        assert.ok(text.includes(part), `${part} in ${text}`);
      assert.match(text, /Paid to Lemon Books GmbH/);
      assert.equal(await tab.getByText("INV-77").count(), 1);
      assert.doesNotMatch(await tab.content(), /ada-receipt|cs_secret/);
      assert.deepEqual(await cutOff(tab), []);
    }
    await takeScreenshot(other, "receipt-en-phone");
    await other.emulateMedia({ media: "print" });
    for (const name of ["Print", "E-mail me the receipt"])
      assert.equal(await other.getByRole("button", { name }).count(), 0, "paper has no buttons");
    await page.getByRole("button", { name: "E-mail me the receipt" }).click();
    await page.getByText("sent to the e-mail address of this order").waitFor();
    assert.equal(await page.getByRole("button", { name: "E-mail me the receipt" }).count(), 0);
    await close();
  },
);

inBrowser("shows refunds in part and in full as they are when it is opened, in the session's language", async () => {
  const { page, close } = await inBrowser.open({ bypassCSP: true, viewport: desktop });
  const opened = await order({ locale: "de" });
  const address = await paidReceipt(opened);
  await refund(opened, 500);
  await page.goto(address);
  await seeScreen(page, "Teilweise erstattet");
  await page.getByText(/Lemon Books hat 5,00.€ erstattet/).waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await seeTwoHalves(page, "receipt");
  await takeScreenshot(page, "receipt-de-desktop");
  await refund(opened, 1000);
  await page.reload();
  await seeScreen(page, "Vollständig erstattet");
  const back = await page.getByRole("link", { name: "Zurück zu Lemon Books" }).getAttribute("href");
  assert.equal(back, `https://lemonbooks.example/thanks?session_id=${opened.id}&status=completed`);
  await close();
});

inBrowser("shows an authorization as reserved, and without a script all but the print button", async () => {
  const { page, close } = await inBrowser.open({ javaScriptEnabled: false });
  await page.goto(await paidReceipt(await order({ capture_method: "manual" })));
  await seeScreen(page, "Payment authorized");
  await page.getByText("reserved this amount").waitFor();
  await page.getByText("UTC").waitFor();
  assert.equal(await page.getByRole("button", { name: "Print" }).count(), 0);
  await close();
});

inBrowser("a wrong token opens nothing, and the right one only the receipt", async ({ page }) => {
  const [opened, unpaid] = [await order(), await order()];
  const address = await paidReceipt(opened);
  const token = new URL(address).searchParams.get("receipt") ?? "";
  const wrong = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
  for (const [id, receipt] of [
    [opened.id, wrong],
    [opened.id, ""],
    [unpaid.id, token],
    ["cs_01jd3v9q6k8m2n4p6r8t0v2x4z", token],
  ] as const) {
    const answer = await page.goto(`${site.stack.gateway}/c/${id}?receipt=${receipt}`);
    assert.equal(answer?.status(), 404);
    await seeScreen(page, "This link is not valid");
    assert.doesNotMatch(await page.content(), /INV-77|15\.00/);
    const sent = await fetch(`${site.stack.gateway}/c/${id}/receipt`, {
      method: "POST",
      body: new URLSearchParams({ receipt }),
    });
    assert.equal(sent.status, 404);
  }
  const answer = await page.goto(address);
  const headers = answer?.headers() ?? {};
  assert.deepEqual(
    [headers["cache-control"], headers["referrer-policy"], headers["x-robots-tag"]],
    ["no-store", "no-referrer", "noindex, nofollow"],
  );
  await page.goto(unpaid.link);
  await formReady(page);
});

test.run();
