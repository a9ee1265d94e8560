// A support colleague finds any payment by what the customer quotes, sees an order that was paid twice, where webhooks
// went and who did what, writes notes, and refunds within a limit per currency. SCREENS=all keeps pictures.
import assert from "node:assert/strict";
import { browserSuite, desktop, type Visit } from "../harness/browser.ts";
import { openAs, sharedConsoles, signInNew } from "../harness/console.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { startReceiver } from "../harness/receiver.ts";
import { fixture, suite } from "../harness/suite.ts";
import { runSql } from "./operators-rig.ts";
import { type Person, personOf } from "./person.ts";
import { disputedPurchase, makePurchase, type Purchase } from "./purchases.ts";
import { assertUsable } from "./usable.ts";

const test = suite("the support desk", { timeoutMs: 240_000, hookTimeoutMs: 240_000 });
const inBrowser = browserSuite(test);
const stack = fixture(test, sharedConsoles);
const merchant = fixture(test, () => freshMerchant(stack));
let base: string;
let visit: Visit;
let support: Person;
let owner: Person;
let [first, second]: Purchase[] = [];

const order = { reference: "Desk-2001", customer_email: "Carla@example.com", amount: 12_900 };

test.before(async () => {
  base = `/${merchant.id}/sandbox`;
  first = await makePurchase(stack, merchant, order);
  second = await makePurchase(stack, merchant, order);
  const limit = { amount: 2_000n, currency: "EUR", others: { USD: 500n } };
  const joining = { email: "sam@example.com", name: "Sam", role: "support", merchantId: merchant.id };
  visit = await inBrowser.open({ viewport: desktop, bypassCSP: true });
  await signInNew(visit, stack, { ...joining, refundLimit: limit });
  support = await personOf(visit, stack, "/account");
  owner = await personOf(
    await openAs(inBrowser, stack, { email: "o@example.com", merchantId: merchant.id }),
    stack,
    "/account",
  );
});

const find = (q: string) => support.get(`${base}/search?${new URLSearchParams({ q }).toString()}`);
const paymentPath = (payment: string | undefined) => `${base}/payments/${payment}`;

test("one box finds a payment by all that a customer or a processor may quote", async () => {
  const api = (await merchant.api.get(`/v1/payments/${first?.payment}`)).expect(200);
  const refund = (await merchant.api.post(`/v1/payments/${first?.payment}/refunds`, { amount: 1 })).expect(201);
  assert.ok(refund);
  const refundId = (await merchant.api.get(`/v1/payments/${first?.payment}/refunds`)).expect(200).text("data.0.id");
  const { dispute, payment: disputed } = await disputedPurchase(stack, merchant, { reference: "Desk-9" });
  for (const [q, to] of [
    [first?.payment, paymentPath(first?.payment)],
    [` ${first?.payment}  `, paymentPath(first?.payment)],
    [refundId, paymentPath(first?.payment)],
    [dispute, `${base}/disputes/${dispute}`],
    [first?.session, `${base}/checkouts/${first?.session}`],
  ] as const) {
    const answer = await find(q ?? "");
    assert.deepEqual([answer.status, answer.location], [303, to], q);
  }
  for (const [q, payment] of [
    ["desk-2001", first?.payment],
    ["DESK-2001", second?.payment],
    ["carla@EXAMPLE.com", first?.payment],
    [api.text("connector_ref"), first?.payment],
    ["4242", first?.payment],
    ["129", second?.payment],
    ["129.00", second?.payment],
    ["€129", second?.payment],
    ["129,00 EUR", second?.payment],
    ["42.50", disputed],
  ] as const) {
    const { status, text } = await find(q);
    assert.equal(status, 200, q);
    assert.ok(text.includes(paymentPath(payment)), q);
  }
  for (const q of ["129 USD", "Desk-2002", "<b>", "pay_01jd3v9q6k8m2n4p6r8t0v2x4z"]) {
    const { status, text } = await find(q);
    assert.equal(status, 200, q);
    assert.match(text, /Nothing found for/, q);
    assert.ok(!text.includes("<b>”"), q);
  }
});

test("shows a checkout without a payment among the results, and nothing of another merchant", async () => {
  const open = (
    await merchant.api.post("/v1/checkout-sessions", { amount: 700, currency: "EUR", reference: "Desk-3" })
  ).expect(201);
  const { text } = await find("desk-3");
  assert.ok(text.includes(`/checkouts/${open.text("id")}`));
  const stranger = await freshMerchant(stack);
  const foreign = await makePurchase(stack, stranger, order);
  assert.equal((await find(foreign.payment)).status, 200);
  assert.ok(!(await find("desk-2001")).text.includes(foreign.payment));
});

test("warns at the top that an order was paid twice, until one of the payments is refunded", async () => {
  const third = await makePurchase(stack, merchant, { ...order, reference: "Desk-4" });
  const page = await support.get(paymentPath(third.payment));
  assert.ok(!page.text.includes("was paid"));
  assert.match(page.text, /Other payments by this customer/);
  const twice = (await support.get(paymentPath(first?.payment))).text;
  assert.match(twice, /Order Desk-2001 was paid 2 times/);
  assert.ok(twice.indexOf("was paid 2 times") < twice.indexOf("Other payments for this order"));
  (await merchant.api.post(`/v1/payments/${second?.payment}/refunds`, {})).expect(201);
  await eventually("the warning to go", async () => {
    return !(await support.get(paymentPath(first?.payment))).text.includes("was paid 2 times");
  });
});

test("shows where an event went, that it failed and when it is tried again", async () => {
  const receiver = await startReceiver(stack.tls);
  receiver.answer({ status: 500 });
  try {
    const endpoint = { url: receiver.url, event_types: ["payment.succeeded"] };
    (await merchant.api.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
    const { payment } = await makePurchase(stack, merchant);
    const shown = await eventually("the failed delivery", async () => {
      const { text } = await support.get(paymentPath(payment));
      return text.includes("response 500") ? text : undefined;
    });
    assert.ok(shown.includes(`Event payment.succeeded to ${new URL(receiver.url).host}`));
    assert.match(shown, /<li class="is-bad"><strong><a [^>]*>Event payment\.succeeded/);
    assert.match(shown, /Next attempt <time datetime="[^"]+">/);
  } finally {
    await receiver.close();
  }
});

test("adds a note once for a form that is sent twice, and shows who wrote it and who refunded", async () => {
  const { payment } = await makePurchase(stack, merchant);
  const path = `${paymentPath(payment)}/notes`;
  const note = "Called on Monday.\nWants a <b>new</b> pot.";
  const answers = await Promise.all([1, 2, 3].map(() => support.post(path, { note })));
  assert.ok(answers.every(({ location }) => location.endsWith("done=note-added")));
  await owner.post(path, { note: "Agreed." });
  const { text } = await support.get(paymentPath(payment));
  assert.equal(text.split("Called on Monday.").length, 2);
  assert.ok(text.includes("Wants a &#60;b&#62;new&#60;/b&#62; pot."));
  assert.match(text, /<strong>Sam<\/strong>/);
  for (const wrong of ["", "   ", "x".repeat(1_001), "\u0007"])
    assert.match((await support.post(path, { note: wrong })).location, /done=note-refused/);
  assert.equal((await support.post(`${paymentPath("pay_01jd3v9q6k8m2n4p6r8t0v2x4z")}/notes`, { note })).status, 404);
  await refundAs(owner, payment, "1.00");
  await eventually("the colleague's name at the refund", async () => {
    return (await support.get(paymentPath(payment))).text.includes("By Robin Example");
  });
});

test("sends the receipt again, once for a form that is sent twice", async () => {
  const { payment } = await makePurchase(stack, merchant, { reference: "Desk-7", customer_email: "gil@example.com" });
  const path = `${paymentPath(payment)}/receipt`;
  const fields = await support.fieldsOf(paymentPath(payment), path);
  for (const _ of [1, 2]) {
    const { headers } = await support.post(path, fields);
    assert.match((await support.get(headers.get("location") ?? "")).text, /We&#39;ve sent the receipt to the customer/);
  }
  await support.post(path, await support.fieldsOf(paymentPath(payment), path));
  await eventually("two receipts", async () => (await mailsTo("gil@example.com")).length === 2);
  assert.ok((await mailsTo("gil@example.com")).every(({ subject }) => subject.includes("Your receipt from")));
});

async function mailsTo(address: string) {
  const answer = await fetch(`${stack.mailbox}/mails.json`);
  const all = (await answer.json()) as readonly { readonly to: string; readonly subject: string; text: string }[];
  return all.filter(({ to }) => to.includes(address));
}

async function refundAs(person: Person, payment: string, amount: string, reason = "") {
  const path = `${paymentPath(payment)}/refund`;
  return await person.post(path, { ...(await person.fieldsOf(path)), amount, reason, other: "" });
}

test("limits refunds in each currency, and offers only what the person may refund", async () => {
  const dollars = await makePurchase(stack, merchant, { currency: "USD" });
  const pounds = await makePurchase(stack, merchant, { currency: "GBP" });
  const form = (await support.get(`${paymentPath(dollars.payment)}/refund`)).text;
  assert.match(form, /name="amount"[^>]*value="5\.00"/);
  assert.match(form, /up to \$5\.00 of a payment/);
  assert.equal((await refundAs(support, dollars.payment, "5.01")).status, 422);
  assert.equal((await refundAs(support, dollars.payment, "5.00")).status, 303);
  assert.match((await support.get(`${paymentPath(dollars.payment)}/refund`)).text, /your limit of \$5\.00 allows/);
  const refused = (await support.get(`${paymentPath(pounds.payment)}/refund`)).text;
  assert.match(refused, /You can&#39;t refund payments in GBP/);
  assert.ok(!refused.includes('name="amount"'));
  assert.equal((await refundAs(support, pounds.payment, "1.00")).status, 422);
});

test("lists refunds by order and customer with their reason in words", async () => {
  const { payment } = await makePurchase(stack, merchant, { reference: "Desk-5", customer_email: "dora@example.com" });
  assert.equal((await refundAs(support, payment, "2.00", "duplicate")).status, 303);
  for (const q of ["desk-5", "DORA@example.com", payment]) {
    const { text } = await support.get(`${base}/refunds?${new URLSearchParams({ q }).toString()}`);
    for (const shown of ["1 refund<", "dora@example.com", "Desk-5", "Duplicate charge", "€2.00"])
      assert.ok(text.includes(shown), `${q} ${shown}`);
  }
  assert.match((await support.get(`${base}/refunds?q=desk`)).text, /No refunds match/);
  const page = (await owner.get(`${base}/refunds?q=desk-5`)).text;
  const [, address = ""] = /href="([^"]*refunds\.csv[^"]*)" download>Download 1 refund \(CSV\)/.exec(page) ?? [];
  const [heading, row, rest] = (await owner.get(address)).text.split("\r\n");
  assert.match(heading ?? "", /^id,created_at,payment_id,status,amount,currency,reason,/);
  assert.ok(row?.includes(`${payment},`) && row.includes("2.00,EUR,duplicate,,,Desk-5,dora@example.com"), row);
  assert.deepEqual([rest, (await owner.get(`${base}/refunds.csv?from=2026-13-99`)).status], ["", 404]);
});

test("a failed refund is on Home and in the menu until it is made again, and the customer's mail is corrected", async () => {
  (await merchant.api.patch("/v1/merchants/me/branding", { email_receipts: "on" })).expect(200);
  const fails = { reference: "Desk-6", customer_email: "fay@example.com" };
  const { payment } = await makePurchase(stack, merchant, fails, cards.refundFailsLater);
  (await merchant.api.post(`/v1/payments/${payment}/refunds`, { amount: 1_000 })).expect(201);
  await eventually("Home names the failed refund", async () => {
    return (await support.get(`${base}/home`)).text.includes("Failed refunds to make again: 1");
  });
  const list = (await support.get(`${base}/refunds?status=needs_action`)).text;
  assert.ok(list.includes(paymentPath(payment)) && list.includes("1 refund<"));
  assert.match(list, /Card expired or canceled/);
  await eventually("the menu counts it", async () => {
    return (await support.get(`${base}/disputes`)).text.includes('<span class="badge" aria-hidden="true">1</span>');
  });
  await eventually("the correction", async () => {
    return (await mailsTo("fay@example.com")).some(({ text }) => /€10\.00 from .* could not be paid out/.test(text));
  });
});

test("shows times and filters days in the shop's time zone, and refuses a range that ends before it begins", async () => {
  const { payment } = await makePurchase(stack, merchant, { reference: "Desk-7" });
  await runSql(stack.database, "payments", "update payments set created_at = '2026-03-27T16:30:00Z' where id = $1", [
    payment,
  ]);
  const list = async (from: string, to: string) =>
    (await support.get(`${base}/payments?q=desk-7&from=${from}&to=${to}`)).text;
  assert.ok((await list("2026-03-27", "2026-03-27")).includes(paymentPath(payment)));
  const profile = { name: "Test Store", legal_name: "", email: "o@example.com", phone: "", website: "" };
  const save = (zone: string) => owner.post(`${base}/profile`, { ...profile, time_zone: zone });
  const wrong = await save("Mars/Olympus");
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /Enter a time zone like Europe\/Berlin/);
  assert.match((await save("Asia/Tokyo")).location, /done=profile-saved/);
  const shown = await list("2026-03-28", "2026-03-28");
  assert.ok(shown.includes(paymentPath(payment)));
  assert.match(shown, /Mar 28, 2026, 1:30/);
  assert.match(shown, /in the Asia\/Tokyo time zone/);
  assert.ok(!(await list("2026-03-27", "2026-03-27")).includes(paymentPath(payment)));
  assert.match(await list("2026-03-28", "2026-03-27"), /The first day must not be after the last/);
  await save("");
});

test("fills the live branding and profile with the sandbox's values, and saves them only on request", async () => {
  const live = `/${merchant.id}/live`;
  const names = async () => (await owner.get(`${live}/branding`)).text.includes('value="Sandbox Books"');
  await owner.post(`${base}/branding`, { ...look, display_name: "Sandbox Books" });
  assert.equal(await names(), false);
  const filled = (await owner.get(`${live}/branding?from=sandbox`)).text;
  assert.match(filled, /value="Sandbox Books"/);
  assert.match(filled, /Check them and save to use them live/);
  assert.equal(await names(), false);
  assert.match((await owner.get(`${live}/profile`)).text, /href="[^"]+\/profile\?from=sandbox"/);
  assert.ok(!(await owner.get(`${base}/branding?from=sandbox`)).text.includes("save to use them live"));
  assert.ok(!(await support.get(`${live}/branding?from=sandbox`)).text.includes("save to use them live"));
});

const look = {
  ...{ button_style: "rounded", background_style: "subtle", theme: "light", font_family: "system" },
  ...{ email_field: "hidden", email_receipts: "off" },
};

test("keeps the menu at a wrong address, and shows nothing of the shop to a stranger", async () => {
  const lost = await support.get(`${base}/nothing-here`);
  assert.equal(lost.status, 404);
  assert.match(lost.text, new RegExp(`href="${base}/payments"`));
  const stranger = await fetch(`${stack.console}${base}/nothing-here`, { redirect: "manual" });
  assert.equal(stranger.status, 404);
  assert.ok(!(await stranger.text()).includes("Test Store"));
});

for (const language of ["en", "de"] as const)
  test(`search, refunds, refund form and payment page are accessible and fit a phone, ${language}`, async () => {
    const { page } = visit;
    await page.setViewportSize(desktop);
    await page.goto(`${stack.console}/account`);
    await page.getByLabel(/Language|Sprache/).selectOption(language);
    await page.getByRole("button", { name: /^(Save|Speichern)$/ }).click();
    for (const path of [
      "/search?q=desk-2001",
      "/search?q=nothing-like-it",
      "/refunds",
      `/payments/${first?.payment}`,
      `/payments/${first?.payment}/refund`,
    ]) {
      await page.goto(`${stack.console}${base}${path}`);
      await assertUsable(page, `desk ${path.replace(/pay_\w+/, "payment")} ${language}`);
    }
  });

test.run();
