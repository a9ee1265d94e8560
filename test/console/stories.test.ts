// Days at the desk, played by clicks in English on a desktop and in German on a phone: what support is asked, the end
// of a month, a dispute, a link that is sold out, and a suspension. Pictures of both sizes are kept in test/artifacts.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { textsOf } from "../../gateway/console/texts/texts.ts";
import { fillCard, formReady } from "../browser/buyer.ts";
import { browserSuite, desktop, phone, takeScreenshot } from "../harness/browser.ts";
import { type Joining, mailTo, sharedConsoles, signInNew } from "../harness/console.ts";
import { eventually } from "../harness/eventually.ts";
import { pdfFile } from "../harness/files/sample-files.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { startReceiver } from "../harness/receiver.ts";
import { fixture, suite } from "../harness/suite.ts";
import { confirmIfPrompted } from "./person.ts";
import { disputedPurchase, makePurchase } from "./purchases.ts";
import { fitsWidth } from "./usable.ts";

const test = suite("stories at the desk", { timeoutMs: 120_000, hookTimeoutMs: 240_000 });
const inBrowser = browserSuite(test);
const stack = fixture(test, sharedConsoles);

const plays = [
  { language: "en", viewport: desktop },
  { language: "de", viewport: phone },
] as const;

type Play = (typeof plays)[number];

let people = 0;

/** A signed-in person with their language and window. */
async function enter({ language, viewport }: Play, joining: Omit<Joining, "email">) {
  const visit = await inBrowser.open({ viewport: desktop, locale: "en-IE" });
  const { page } = visit;
  const email = `person-${++people}@stories.example`;
  await signInNew(visit, stack, { email, ...joining });
  await page.goto(new URL("/account", page.url()).href);
  await page.getByLabel("Language").selectOption(language);
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForURL(/done=/);
  await page.setViewportSize(viewport);
  return { page, email };
}

const pathOf = (page: Page) => new URL(page.url()).pathname;

/** Keeps the page in both sizes, and fails if it is wider than its window. */
async function picture(page: Page, name: string, { language, viewport }: Play): Promise<void> {
  for (const [size, window] of Object.entries({ desktop, phone })) {
    await page.setViewportSize(window);
    await takeScreenshot(page, `story-${name}-${language}-${size}`);
    assert.ok(await fitsWidth(page), `${name} ${language} ${size}`);
  }
  await page.setViewportSize(viewport);
}

async function mailPicture(html: string, name: string, play: Play): Promise<void> {
  const { page, close } = await inBrowser.open();
  await page.setContent(html);
  await picture(page, name, play);
  await close();
}

/** Types into the box at the top. */
async function search(page: Page, text: string): Promise<void> {
  const box = page.locator("header input[type=search]");
  await box.fill(text);
  await box.press("Enter");
}

for (const play of plays) {
  const { language } = play;
  const texts = textsOf(language);
  const story = (title: string, body: (base: string, of: Awaited<ReturnType<typeof freshMerchant>>) => Promise<void>) =>
    inBrowser.alone(`${title}, ${language}`, async () => {
      const merchant = await freshMerchant(stack);
      await body(`${stack.console}/${merchant.id}/sandbox`, merchant);
    });

  story("“She paid twice”: support finds both payments by the e-mail and refunds one", async (base, merchant) => {
    const order = { reference: "S-1001", customer_email: "Clara@example.com", amount: 12_900 };
    for (const _ of [1, 2]) await makePurchase(stack, merchant, order);
    const { page } = await enter(play, { name: "Sam", role: "support", merchantId: merchant.id });
    await page.goto(`${base}/home`);
    await search(page, "  clara@EXAMPLE.com ");
    await page
      .getByRole("link", { name: /129[.,]00/ })
      .nth(1)
      .waitFor();
    await picture(page, "twice-search", play);
    await page
      .getByRole("link", { name: /129[.,]00/ })
      .first()
      .click();
    await page.getByText(/S-1001 (was paid 2 times|wurde 2-mal bezahlt)/).waitFor();
    await picture(page, "twice-payment", play);
    const path = pathOf(page);
    await page.getByRole("link", { name: texts.payment.refund, exact: true }).click();
    await page.getByRole("radio").or(page.getByRole("option")).first().waitFor({ state: "attached" });
    await picture(page, "twice-refund", play);
    await page
      .getByRole("button", { name: /129[.,]00|^(Refund|Erstatten)/ })
      .last()
      .click();
    await page.waitForURL((url) => url.pathname === path && url.search.includes("done="));
    await eventually("the warning to go", async () => {
      await page.reload();
      return (await page.getByText(/was paid 2 times|wurde 2-mal bezahlt/).count()) === 0;
    });
    await picture(page, "twice-refunded", play);
  });

  story("“The order is not marked paid”: support sees the failed delivery", async (base, merchant) => {
    const receiver = await startReceiver(stack.tls);
    receiver.answer({ status: 500 });
    try {
      const endpoint = { url: receiver.url, event_types: ["payment.succeeded"] };
      (await merchant.api.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
      const { payment } = await makePurchase(stack, merchant, { reference: "S-1002" });
      const { page } = await enter(play, { name: "Sam", role: "support", merchantId: merchant.id });
      await page.goto(`${base}/home`);
      await search(page, "s-1002");
      await page
        .getByRole("link", { name: /42[.,]50/ })
        .first()
        .click();
      await eventually("the failed delivery", async () => {
        await page.reload();
        return (await page.getByText(texts.payment.nextTry).count()) > 0;
      });
      assert.equal(pathOf(page).split("/").at(-1), payment);
      await page.getByText(new URL(receiver.url).host).first().waitFor();
      await picture(page, "not-marked-paid", play);
    } finally {
      await receiver.close();
    }
  });

  story("“Send the receipt again”: support mails it from the payment", async (base, merchant) => {
    const email = `gil-${language}@example.com`;
    const { payment } = await makePurchase(stack, merchant, { customer_email: email, locale: language });
    const { page } = await enter(play, { name: "Sam", role: "support", merchantId: merchant.id });
    await page.goto(`${base}/home`);
    await search(page, payment);
    await page.getByRole("button", { name: texts.payment.sendReceipt }).click();
    await page.waitForURL(/done=/);
    await picture(page, "receipt-again", play);
    const { subject, html } = await mailTo(stack, email);
    assert.match(subject, language === "en" ? /Your receipt/ : /Beleg|Quittung/);
    await mailPicture(html, "receipt-mail", play);
  });

  story("A refund fails: Home names it, and support makes it again", async (base, merchant) => {
    const failing = { reference: "S-1003", customer_email: "fay@example.com" };
    const { payment } = await makePurchase(stack, merchant, failing, cards.refundFailsLater);
    const { page } = await enter(play, { name: "Sam", role: "support", merchantId: merchant.id });
    (await merchant.api.post(`/v1/payments/${payment}/refunds`, { amount: 1_000 })).expect(201);
    const named = page.getByRole("link", { name: texts.home.failedRefunds.replace("{count}", "1") });
    await eventually("Home names the refund", async () => {
      await page.goto(`${base}/home`);
      return (await named.count()) > 0;
    });
    await picture(page, "refund-fails-home", play);
    await named.click();
    await page
      .getByRole("link", { name: /10[.,]00/ })
      .first()
      .waitFor();
    await picture(page, "refund-fails-list", play);
    await page
      .getByRole("link", { name: /10[.,]00/ })
      .first()
      .click();
    await page.waitForURL(`**/payments/${payment}*`);
    await picture(page, "refund-fails-payment", play);
  });

  story(
    "The end of the month: finance filters by day, downloads both lists and orders the daily mail",
    async (base, merchant) => {
      for (const amount of [1_000, 2_500, 990])
        await makePurchase(stack, merchant, { amount, reference: `S-${amount}` });
      const { payment } = await makePurchase(stack, merchant, { amount: 8_000 });
      (await merchant.api.post(`/v1/payments/${payment}/refunds`, { amount: 500, reason: "duplicate" })).expect(201);
      const { page } = await enter(play, { name: "Fin", role: "finance", merchantId: merchant.id });
      await page.goto(`${base}/home`);
      await picture(page, "month-home", play);
      const today = new Date().toISOString().slice(0, 10);
      const [first, next] = [`${today.slice(0, 8)}01`, new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)];
      await page.goto(`${base}/payments?captured_from=${first}&captured_to=${next}`);
      await picture(page, "month-payments", play);
      const download = async () => {
        const waiting = page.waitForEvent("download");
        await page.getByRole("link", { name: /\(CSV\)/ }).click();
        const chunks: Buffer[] = [];
        for await (const chunk of await (await waiting).createReadStream()) chunks.push(chunk as Buffer);
        return Buffer.concat(chunks).toString().trim().split("\r\n");
      };
      const [head = "", ...rows] = await download();
      const column = head.split(",").indexOf("captured_amount");
      const sum = rows.reduce((total, row) => total + Number(row.split(",")[column]), 0);
      assert.deepEqual([rows.length, sum.toFixed(2)], [4, "124.90"]);
      await page.goto(`${base}/refunds?from=${first}&to=${next}`);
      await picture(page, "month-refunds", play);
      assert.equal((await download()).length, 2);
      await page.goto(`${base}/notifications`);
      await page.getByLabel(texts.profile.paid_daily).check();
      await picture(page, "month-notifications", play);
      await page.getByRole("button", { name: texts.profile.save }).click();
      await page.waitForURL(/done=notifications-saved/);
      assert.ok(await page.getByLabel(texts.profile.paid_daily).isChecked());
    },
  );

  story("A dispute: support reads the advice, adds a file, checks it and answers", async (base, merchant) => {
    const { dispute } = await disputedPurchase(stack, merchant, { reference: "S-1004" });
    const { page } = await enter(play, { name: "Sam", role: "support", merchantId: merchant.id });
    await page.goto(`${base}/home`);
    await page.getByRole("link", { name: texts.home.disputes.replace("{count}", "1") }).click();
    await page
      .getByRole("link", { name: /42[.,]50/ })
      .first()
      .click();
    await page.getByLabel(texts.disputes.product_description).fill("One lemon tree, 120 cm");
    await page
      .getByLabel(texts.disputes.file, { exact: true })
      .setInputFiles({ name: "receipt.pdf", mimeType: "application/pdf", buffer: pdfFile() });
    await page.getByRole("button", { name: texts.disputes.addFile }).click();
    await page.getByText(texts.disputes.fileAdded).waitFor();
    await picture(page, "dispute", play);
    await page.getByRole("button", { name: texts.disputes.review }).click();
    await page.getByRole("heading", { name: texts.disputes.reviewTitle }).waitFor();
    await picture(page, "dispute-review", play);
    await page.getByRole("button", { name: texts.disputes.sendNow }).click();
    await page.getByText(texts.disputes.evidence).first().waitFor();
    await picture(page, "dispute-sent", play);
    const sent = (await merchant.api.get(`/v1/disputes/${dispute}`)).expect(200);
    assert.equal(sent.text("evidence.product_description"), "One lemon tree, 120 cm");
  });

  story(
    "A link with a stock of three: three buyers pay, the owner gets a mail for each, the fourth comes late",
    async (base, merchant) => {
      const { page, email } = await enter(play, { name: "Otto", merchantId: merchant.id });
      await page.goto(`${base}/links/new`);
      await page.getByLabel(texts.links.reusable).check();
      await page.getByLabel(texts.links.amount, { exact: true }).fill("30");
      await page.getByLabel(texts.links.stock).fill("3");
      await page.getByLabel(texts.links.description).fill("Lemon tree");
      await page.getByRole("button", { name: texts.links.create }).click();
      const link = (await page.locator(".made-link code").textContent()) ?? "";
      await picture(page, "link-made", play);
      const address = page.url().split("?")[0] ?? "";
      for (const i of [1, 2, 3]) {
        const { page: buyer, close } = await inBrowser.open({ viewport: play.viewport, locale: language });
        await buyer.goto(link);
        if (i === 1) await picture(buyer, "link-buyer", play);
        await buyer.getByRole("button").last().click();
        await formReady(buyer);
        await fillCard(buyer.frameLocator("iframe"), cards.succeeds);
        await buyer.locator("button.pay").click();
        await buyer.locator(".sign-done").waitFor();
        if (i === 3) await picture(buyer, "link-paid", play);
        await close();
      }
      const { page: late, close } = await inBrowser.open({ viewport: play.viewport, locale: language });
      await late.goto(link);
      await late.getByRole("heading", { name: /Sold out|Ausverkauft/ }).waitFor();
      await picture(late, "link-sold-out", play);
      await close();
      await page.goto(address);
      await page.getByText(texts.links.soldOf.replace("{sold}", "3").replace("{max}", "3")).waitFor();
      await picture(page, "link-sold", play);
      const paid = await eventually("three mails", async () => {
        const mails = (await (await fetch(`${stack.mailbox}/mails.json`)).json()) as readonly {
          to: string;
          subject: string;
          html: string;
        }[];
        const found = mails.filter(
          (mail) => mail.to.includes(email) && /you were paid|Zahlung über/.test(mail.subject),
        );
        return found.length >= 3 ? found : undefined;
      });
      assert.equal(paid.length, 3);
      await mailPicture(paid[0]?.html ?? "", "link-paid-mail", play);
    },
  );

  story(
    "A suspension: an operator gives the reason, the owner reads it, and buyers can still be refunded",
    async (base, merchant) => {
      const { payment } = await makePurchase(stack, merchant);
      const open = (await merchant.api.post("/v1/checkout-sessions", { amount: 900, currency: "EUR" })).expect(201);
      const { page: owner, email } = await enter(play, { name: "Ines", merchantId: merchant.id });
      const { page: operator } = await enter(play, { name: `Op-${language}`, role: "operator", merchantId: "" });
      await operator.goto(`${stack.operators_console}/merchants/${merchant.id}`);
      await operator.locator("summary", { hasText: texts.merchants.suspend }).click();
      await picture(operator, "suspend", play);
      await operator.getByLabel(texts.operatorForms.reason).first().fill("Card testing");
      await operator.getByRole("button", { name: texts.merchants.suspend }).click();
      await confirmIfPrompted(operator);
      await operator.locator("summary", { hasText: texts.merchants.activate }).waitFor();
      await picture(operator, "suspended", play);
      const { html, text } = await mailTo(stack, email, (mail) => /suspended|gesperrt/.test(mail.subject));
      assert.match(text, /Card testing/);
      await owner.goto(`${base}/payments/${payment}`);
      await owner
        .getByText(/suspended|gesperrt/)
        .first()
        .waitFor();
      await picture(owner, "suspended-payment", play);
      await owner.getByRole("link", { name: texts.payment.refund, exact: true }).click();
      await owner
        .getByRole("button", { name: /^(Refund|Erstatten)|42[.,]50/ })
        .last()
        .click();
      await owner.waitForURL(/done=/);
      await eventually("the open checkout to end", async () => {
        const session = (await merchant.api.get(`/v1/checkout-sessions/${open.text("id")}`)).expect(200);
        return session.text("status") === "canceled";
      });
      await mailPicture(html, "suspended-mail", play);
    },
  );
}

test.run();
