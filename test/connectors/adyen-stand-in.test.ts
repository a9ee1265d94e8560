// The stand-in of Adyen: keys, modifications that end later, pages, webhooks, and the models of Adyen's own library as
// the judge of every body. The connector and its rig rely on it.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { NotificationRequestItem } from "@adyen/api-library/lib/src/typings/notification/models.js";
import Validator from "@adyen/api-library/lib/src/utils/hmacValidator.js";
import { type Members, membersOf } from "#platform/values/unchecked.ts";
import type { AdyenAccount } from "../harness/adyen/adyen-account.ts";
import { routeAdyen } from "../harness/adyen/adyen-browser.ts";
import { FakeAdyen } from "../harness/adyen/fake-adyen.ts";
import { browserSuite } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";
import { suite } from "../harness/suite.ts";

const test = suite("the stand-in of Adyen", { timeoutMs: 60_000 });
const inBrowser = browserSuite(test);
const credentials = {
  apiKey: "AQE_test_1",
  clientKey: "test_CLIENT1",
  hmacKey: "DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00",
  webhookUser: "tollbooth",
  webhookPassword: "hook-password",
};
const dayMs = 86_400_000;
let fake: FakeAdyen;
let lemon: AdyenAccount;

test.beforeEach(async () => {
  fake = await new FakeAdyen().start();
  lemon = fake.account("LemonECOM", credentials);
});
test.afterEach(() => fake.stop());

interface Answer {
  readonly status: number;
  readonly body: Members;
  readonly headers: Headers;
}
async function call(
  method: string,
  path: string,
  body?: unknown,
  own: Record<string, string> = {},
  patienceMs = 10_000,
): Promise<Answer> {
  const headers = { "x-api-key": credentials.apiKey, "content-type": "application/json", ...own };
  const sent = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const answer = await fetch(`${fake.url}${path}`, { ...sent, signal: AbortSignal.timeout(patienceMs) });
  return { status: answer.status, body: membersOf(await answer.json()), headers: answer.headers };
}
const amount = { currency: "EUR", value: 1_050 };
const order = { merchantAccount: "LemonECOM", reference: "pay_1", amount };
const link = async (members: object = {}, own = {}) =>
  String((await call("POST", "/v72/paymentLinks", { ...order, ...members }, own)).body.id);
const session = async (members: object = {}) =>
  String((await call("POST", "/v72/sessions", { ...order, returnUrl: "https://shop.example/", ...members })).body.id);
const refund = (psp: string, value = 1_050, own = {}) =>
  call("POST", `/v72/payments/${psp}/refunds`, { ...order, reference: "ref_1", amount: { ...amount, value } }, own);
/** Code, success and reference of each item since the last call. */
const news = () =>
  lemon.queue.splice(0).map(({ NotificationRequestItem: item }) => `${item.eventCode} ${item.success} ${item.reason}`);

test("signs as Adyen's published vector, and no separator is escaped", () => {
  const ids = { pspReference: "pspReference", originalReference: "originalReference", merchantReference: "reference" };
  const event = { eventCode: "EVENT", eventDate: "", success: "true" } as const;
  const whole = { ...ids, ...event, merchantAccountCode: "merchantAccount", amount: { currency: "EUR", value: 1_000 } };
  lemon.announce(whole);
  lemon.announce({ ...whole, merchantReference: "a:b" });
  const [first, second] = lemon.queue.map((item) => item.NotificationRequestItem.additionalData?.hmacSignature);
  assert.equal(first, "ipnxGCaUZ4l8TUW75a71/ghd2Fe5ffvX0pV4TLTntIc=");
  const text = "pspReference:originalReference:merchantAccount:a:b:1000:EUR:EVENT:true";
  assert.equal(second, new Validator.default().calculateHmac(text, credentials.hmacKey));
});

test("a key brings its first answer at every path and account, whatever the body, for seven days", async () => {
  fake.account("LimeECOM", credentials);
  const own = { "idempotency-key": "key-1" };
  const first = await link({}, own);
  assert.equal(await link({ reference: "another" }, own), first);
  assert.equal(await link({ merchantAccount: "LimeECOM" }, own), first);
  assert.equal((await refund("ABCDEFGHJKLMNPQR", 1, own)).body.id, first, "a path of its own is no other key");
  fake.clockOffsetMs = 6.9 * dayMs;
  assert.equal(await link({}, own), first);
  fake.clockOffsetMs = 7.1 * dayMs;
  assert.notEqual(await link({}, own), first, "a key that is sent too late makes a second one");
  const refused = { ...order, returnUrl: "" };
  const key = { "idempotency-key": "key-2" };
  const answer = await call("POST", "/v72/sessions", refused, key);
  assert.deepEqual([answer.status, answer.body.errorCode], [422, "14_030"]);
  const again = await call("POST", "/v72/sessions", { ...refused, returnUrl: "https://shop.example/" }, key);
  assert.equal(again.status, 422, "a refusal is kept, too");
});

test("a key in work is refused with 704 as 409 or 422, and an error that stopped the request is not kept", async () => {
  fake.workMs = 1_000;
  const own = { "idempotency-key": "key-1" };
  const three = await Promise.all([1, 2, 3].map(() => call("POST", "/v72/paymentLinks", order, own)));
  const seen = three.map(({ status, body }) => `${status} ${String(body.errorCode)}`).toSorted();
  assert.deepEqual(seen, ["201 undefined", "409 704", "422 704"]);
  fake.workMs = 0;
  for (const [fault, status, done] of [
    ["500-after", 500, 1],
    ["500-before", 500, 0],
    ["silent-after", 0, 1],
    ["silent-before", 0, 0],
    ["704", 409, 0],
    ["703", 503, 0],
  ] as const) {
    const before = lemon.pages.size;
    fake.failNext(/paymentLinks$/, fault);
    const key = { "idempotency-key": `of ${fault}` };
    const failed = await call("POST", "/v72/paymentLinks", order, key, 1_500).catch(() => undefined);
    assert.equal(failed?.status ?? 0, status);
    if (failed) assert.equal(failed.headers.get("transient-error"), fault === "703" ? "true" : null);
    assert.equal(lemon.pages.size - before, done, fault);
    assert.equal((await call("POST", "/v72/paymentLinks", order, key)).status, 201);
    assert.equal(lemon.pages.size - before, 1, "the repeat makes none twice");
  }
});

test("modifications are received even for an unknown payment, and end by webhook only", async () => {
  const psp = lemon.pay(await link());
  assert.match(psp, /^[A-Z0-9]{16}$/);
  assert.deepEqual(news(), ["AUTHORISATION true 026421:1111:03/2030"], "automatic capture sends no CAPTURE");
  for (const value of [400, 651]) assert.equal((await refund(psp, value)).status, 201);
  const { status, body } = await refund("UNKNOWN123456789");
  assert.deepEqual([status, body.status, body.paymentPspReference], [201, "received", "UNKNOWN123456789"]);
  assert.deepEqual(news(), []);
  lemon.settle();
  assert.deepEqual(news(), [
    "REFUND true ",
    "REFUND false Insufficient balance on payment",
    "REFUND false Original payment not found",
  ]);
  await refund(psp, 100);
  lemon.settle({ success: false, reason: "Refund not possible" });
  assert.deepEqual(news(), ["REFUND false Refund not possible"]);
  for (const path of [`/v72/payments/${psp}`, `/v72/payments?reference=pay_1`]) {
    assert.equal((await call("GET", path)).status, 404, "no payment can be read");
  }
  fake.misfits.length = 0;
});

test("a part capture releases the rest, and a failed one may be captured again", async () => {
  const modify = (psp: string, what: string, members: object = {}) =>
    call("POST", `/v72/payments/${psp}/${what}`, { merchantAccount: "LemonECOM", ...members });
  const held = lemon.pay(await link({ manualCapture: true }));
  const other = lemon.pay(await session({ additionalData: { manualCapture: "true" } }));
  news();
  await refund(held, 1);
  const { body } = await modify(held, "captures", { amount: { ...amount, value: 400 }, reference: "op_1" });
  await modify(held, "cancels");
  await refund(held, 401);
  await modify(other, "reversals");
  await call("POST", "/v72/cancels", { merchantAccount: "LemonECOM", paymentReference: "pay_1" });
  lemon.settle();
  assert.deepEqual(news(), [
    "REFUND false Transaction hasn't been captured, refund not possible",
    "CAPTURE true ",
    "CANCELLATION false Payment is not authorised any more",
    "REFUND false Insufficient balance on payment",
    "CANCEL_OR_REFUND true ",
    "TECHNICAL_CANCEL false Payment is not authorised any more",
  ]);
  const capture = String(body.pspReference);
  lemon.later("CAPTURE_FAILED", capture, { reason: "Capture Failed" });
  lemon.later("CAPTURE", capture, { reason: "Transaction Recaptured" });
  const [failed, again] = lemon.queue.map((each) => each.NotificationRequestItem);
  assert.deepEqual([failed?.originalReference, failed?.merchantReference], [held, "op_1"]);
  assert.equal(again?.pspReference, capture);
});

test("tries under one page have pspReferences of their own, and the page ends when it is paid, refused or over", async () => {
  const [first, second, third] = [await link(), await session(), await link()];
  const tries = [lemon.pay(first, { refused: "Expired Card" }), lemon.pay(first), lemon.pay(first, { isLate: true })];
  assert.equal(new Set(tries).size, 3);
  const items = lemon.queue.map((each) => each.NotificationRequestItem);
  assert.deepEqual(items.map(({ success }) => success).join(), "false,true,true");
  assert.ok(items.every(({ additionalData }) => additionalData?.paymentLinkId === first));
  assert.throws(() => lemon.pay(first), /completed/);
  const status = async (id: string) => (await call("GET", `/v72/paymentLinks/${id}`)).body.status;
  assert.equal(await status(first), "completed");
  const active = lemon.sessionResult(second);
  for (let i = 0; i < 5; i++) lemon.pay(second, { refused: "Refused" });
  assert.throws(() => lemon.pay(second), /refused/);
  const asked = (result: string) => call("GET", `/v72/sessions/${second}?sessionResult=${encodeURIComponent(result)}`);
  assert.equal((await asked(lemon.sessionResult(second))).body.status, "refused");
  assert.equal((await asked(active)).body.status, "active", "an answer never changes");
  assert.equal((await asked("another")).status, 422);
  const ended = await call("PATCH", `/v72/paymentLinks/${third}`, { status: "expired" });
  assert.deepEqual([ended.status, ended.body.status, await status(third)], [200, "expired", "expired"]);
  const fourth = await link();
  fake.clockOffsetMs = dayMs;
  assert.equal(await status(fourth), "expired");
  assert.throws(() => lemon.pay(fourth), /expired/);
  assert.equal((await call("PATCH", `/v72/paymentLinks/${first}`, { status: "expired" })).status, 422);
});

test("refuses a wrong key, another account and broken JSON with Adyen's codes, and has its own clock", async () => {
  fake.clockOffsetMs = -dayMs;
  const codes = async (...given: Parameters<typeof call>) => {
    const { status, body, headers } = await call(...given);
    assert.ok(Math.abs(Date.parse(headers.get("date") ?? "") - Date.now() + dayMs) < 10_000);
    return [status, body.errorCode];
  };
  const methods = "/v72/paymentMethods";
  assert.deepEqual(await codes("POST", methods, { merchantAccount: "LemonECOM" }), [200, undefined]);
  assert.deepEqual(await codes("POST", methods, order, { "x-api-key": "AQE_other" }), [401, "000"]);
  assert.deepEqual(await codes("POST", methods, { merchantAccount: "LimeECOM" }), [403, "901"]);
  assert.deepEqual(await codes("POST", methods), [400, "702"]);
});

test("a field that Adyen does not know, or misses, is refused and fails the test at its end", async () => {
  const wrong = { merchantAccount: "LemonECOM", amount: { currency: "EUR", value: "1050" }, colour: "red" };
  assert.equal((await call("POST", "/v72/paymentLinks", wrong)).status, 400);
  const spare = await new FakeAdyen().start();
  spare.misfits.push("PaymentLinkRequest.colour: unknown to Adyen");
  await assert.rejects(spare.stop(), /colour/);
  assert.deepEqual(fake.misfits.splice(0), [
    "PaymentLinkRequest.reference: missing",
    "PaymentLinkRequest.amount.value: no whole number",
    "PaymentLinkRequest.colour: unknown to Adyen",
  ]);
  assert.throws(() => lemon.later("EXPIRE", "UNKNOWN123456789"), /nothing has/);
});

test("a card that Adyen keeps is charged without the buyer: the answer decides, and a webhook repeats it", async () => {
  const pay = (storedPaymentMethodId: string, own = {}) => {
    const paymentMethod = { type: "scheme", storedPaymentMethodId };
    const shopper = { shopperReference: "cus_1", shopperInteraction: "ContAuth", returnUrl: "https://shop.example/" };
    const body = { ...order, ...shopper, recurringProcessingModel: "CardOnFile", paymentMethod };
    return call("POST", "/v72/payments", body, own);
  };
  const own = { "idempotency-key": "key-1" };
  const first = await pay(lemon.keepCard("cus_1", { card: "5555555555554444", method: "mc" }), own);
  assert.deepEqual([first.status, first.body.resultCode], [200, "Authorised"]);
  assert.deepEqual((await pay("another", own)).body, first.body);
  const second = await pay(lemon.keepCard("cus_1", { refused: "Not enough balance" }));
  assert.deepEqual([second.body.resultCode, second.body.refusalReasonCode], ["Refused", "12"]);
  const unknown = await pay(lemon.keepCard("cus_2"));
  assert.deepEqual([unknown.status, unknown.body.errorCode], [422, "803"]);
  assert.deepEqual(news(), ["AUTHORISATION true 026421:4444:03/2030", "AUTHORISATION false Not enough balance"]);
});

test("a dispute is answered once, with its documents, of which PNG and large ones are refused", async () => {
  const id = lemon.dispute(lemon.pay(await link()), "NOTIFICATION_OF_CHARGEBACK");
  const ask = async (what: string, members: object = {}, disputePspReference = id) => {
    const body = { merchantAccountCode: "LemonECOM", disputePspReference, ...members };
    const answer = await call("POST", `/ca/services/DisputeService/v30/${what}`, body);
    assert.equal(answer.status, 200);
    return membersOf(answer.body.disputeServiceResult).success;
  };
  const supply = (contentType: string, bytes: number) => {
    const content = Buffer.alloc(bytes).toString("base64");
    const defenseDocuments = [{ content, contentType, defenseDocumentTypeCode: "DefenseMaterial" }];
    return ask("supplyDefenseDocument", { defenseDocuments });
  };
  const defend = () => ask("defendDispute", { defenseReasonCode: "SupplyDefenseMaterial" });
  assert.equal(await ask("retrieveApplicableDefenseReasons"), true);
  assert.deepEqual([await supply("image/png", 10), await supply("application/pdf", 2_000_001)], [false, false]);
  assert.equal(await defend(), false, "without a document");
  assert.deepEqual([await supply("application/pdf", 2_000_000), await defend(), await defend()], [true, true, false]);
  assert.equal(await ask("acceptDispute"), false, "answered");
  assert.equal(await ask("acceptDispute", {}, "UNKNOWN123456789"), false);
  const other = lemon.dispute(lemon.pay(await link()), "CHARGEBACK");
  assert.deepEqual([await ask("acceptDispute", {}, other), await ask("acceptDispute", {}, other)], [true, false]);
  assert.ok(news().some((item) => item.startsWith("INFORMATION_SUPPLIED")));
});

test("webhooks are signed, shuffled, doubled with another date, and repeated until a 2xx", async () => {
  for (let i = 0; i < 5; i++) lemon.pay(await link({ reference: `pay_${i}` }));
  const bank = lemon.dispute(lemon.pay(await link()), "NOTIFICATION_OF_CHARGEBACK");
  lemon.later("CHARGEBACK", bank);
  const created = lemon.queue.map(({ NotificationRequestItem: item }) => item.pspReference);
  const received: NotificationRequestItem[] = [];
  let refusals = 2; // of the first item, so that it is left for another round
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const basic = Buffer.from(`${credentials.webhookUser}:${credentials.webhookPassword}`).toString("base64");
    assert.equal(request.headers.authorization, `Basic ${basic}`);
    const [{ NotificationRequestItem: item }] = JSON.parse(Buffer.concat(chunks).toString()).notificationItems;
    const isRefused = item.pspReference === created[0] && refusals-- > 0;
    response.writeHead(isRefused ? 503 : 202).end();
    if (!isRefused) received.push(item);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/`;
  await lemon.send(url, { shuffle: true, double: true });
  server.close();
  assert.equal(lemon.queue.length, 0);
  assert.equal(received.length, 2 * created.length, "each twice");
  assert.ok(received.every((item) => new Validator.default().validateHMAC(item, credentials.hmacKey)));
  assert.deepEqual(new Set(received.map(({ pspReference }) => pspReference)), new Set(created));
  const order = [...new Set(received.map(({ pspReference }) => pspReference))];
  assert.notDeepEqual(order, [...new Set(created)], "another order");
  const chargebacks = received.filter(({ eventCode }) => String(eventCode) === "CHARGEBACK");
  assert.ok(new Set(chargebacks.map(({ eventDate }) => eventDate)).size > 1);
});

test("a session takes only its newest data, from its own client key, and no other session's way back from the bank", async () => {
  const made = await call("POST", "/v72/sessions", { ...order, returnUrl: "https://shop.example/", countryCode: "NL" });
  const other = await session();
  const id = String(made.body.id);
  const step = (name: string, body: object, clientKey = credentials.clientKey) =>
    call("POST", `/checkoutshopper/v1/sessions/${id}/${name}?clientKey=${clientKey}`, body);
  const first = { sessionData: made.body.sessionData };
  assert.equal((await step("setup", first, "test_another")).status, 401);
  const { body } = await step("setup", first);
  assert.deepEqual([body.id, body.amount], [id, amount]);
  assert.equal((await step("setup", first)).status, 422, "an old sessionData");
  const encoded = JSON.stringify({ id: other, card: "4212345678910006", answer: "approve" });
  const details = { redirectResult: Buffer.from(encoded).toString("base64") };
  const { body: foreign } = await step("paymentDetails", { sessionData: body.sessionData, details });
  assert.equal(foreign.resultCode, "Refused");
  assert.deepEqual(news(), ["AUTHORISATION false 3D Not Authenticated"]);
});

const cdn = "https://checkoutshopper-test.cdn.adyen.com/checkoutshopper/sdk/6.45.2";
/** A shop's page with a session, at the shop's address; `__news` collects the callbacks. */
const shopPage = (options: object) => `<!doctype html><title>Shop</title><link rel="stylesheet" href="${cdn}/adyen.css">
<script src="${cdn}/adyen.js"></script><div id="card"></div><script>
(async () => {
  const note = (name) => (result) => (globalThis.__news ??= []).push(name + " " + (result.resultCode ?? result.message));
  const returned = new URLSearchParams(location.search).get("redirectResult");
  const options = ${JSON.stringify(options)};
  if (returned) delete options.session.sessionData;
  const callbacks = { onPaymentCompleted: note("paid"), onPaymentFailed: note("failed"), onError: note("error") };
  const checkout = await AdyenWeb.AdyenCheckout({ ...options, ...callbacks });
  if (returned) return checkout.submitDetails({ details: { redirectResult: returned } });
  globalThis.__card = new AdyenWeb.Card(checkout).mount("#card");
})();</script>`;

inBrowser("a session is paid in the browser after a refusal and the bank's own page", async ({ context, page }) => {
  await routeAdyen(context, fake.url);
  const shop = "https://shop.example/pay";
  const { body } = await call("POST", "/v72/sessions", { ...order, returnUrl: `${shop}?order=1`, countryCode: "NL" });
  const session = { id: String(body.id), sessionData: body.sessionData };
  const { clientKey } = credentials;
  const html = shopPage({ clientKey, environment: "test", countryCode: "NL", locale: "de-DE", session });
  await context.route("https://shop.example/**", (route) => route.fulfill({ contentType: "text/html", body: html }));
  const seen = async () => String(await page.evaluate("globalThis.__news?.at(-1)"));
  const saw = (text: string) => eventually(text, async () => (await seen().catch(() => "")) === text);
  const fill = async (number: string, holder: string) => {
    const fields = page.frameLocator("iframe");
    await fields.getByLabel("Card number").fill(number);
    await fields.getByLabel("Name on card").fill(holder);
    await page.getByRole("button", { name: "Pay at Adyen" }).click();
  };
  await page.goto(shop);
  await fill("4111 1111 1111 1111", "NOT_ENOUGH_BALANCE");
  await saw("failed Refused");
  await fill("4111 1111 1111 1111", "Ada");
  assert.deepEqual(news(), ["AUTHORISATION false Not enough balance"], "until its status is ready it sends nothing");
  await page.evaluate("__card.setStatus('ready')");
  await fill("4212 3456 7891 0006", "Ada");
  await page.getByRole("link", { name: "approve" }).click();
  await saw("paid Authorised");
  assert.match(page.url(), /order=1&redirectResult=/);
  assert.equal(lemon.queue.at(-1)?.NotificationRequestItem.additionalData?.checkoutSessionId, session.id);
  assert.deepEqual(news(), ["AUTHORISATION true 026421:0006:03/2030"]);
  await page.goto(shop);
  await saw("error Session is completed, or its data is old");
});

test.run();
