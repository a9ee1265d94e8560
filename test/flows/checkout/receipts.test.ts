// Receipts by e-mail: one for each payment and one for its refunds within an hour, in the session's language. All
// services and the SMTP server are real; a failed mail never affects a payment.
import assert from "node:assert/strict";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import pg from "pg";
import { connectPeer } from "#platform/rpc/client.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { Environment, MerchantService, type UpdateBrandingRequestSchema } from "#proto/merchant/v1/merchant_pb.ts";
import { type ReceiptLineSchema, ReceiptService } from "#proto/merchant/v1/receipts_pb.ts";
import { mailReceipts } from "../../../services/checkout/jobs/send-receipts.ts";
import { eventually } from "../../harness/eventually.ts";
import { cards } from "../../harness/pay.ts";
import { startSmtpSink } from "../../harness/servers/smtp-sink.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { type CreatedSession, type SessionOrder, startCheckoutServices } from "./services.ts";

const test = suite("receipts by e-mail", { timeoutMs: 60_000 });
let buyers = 0;

const sink = fixture(test, () => startSmtpSink());
const services = fixture(test, () =>
  startCheckoutServices("https://pay.example.com", undefined, { smtpUrl: sink.url, receiptsPerHour: 25 }),
);
const merchant = fixture(test, () =>
  connectPeer({ url: services.money.urls.merchant, token: services.money.settings.RPC_TOKEN }),
);
const merchants = fixture(test, () => merchant.client(MerchantService));
const database = fixture(test, () => new pg.Client({ connectionString: services.money.merchantDatabaseUrl }));
test.before(async () => {
  await database.connect();
  await brand({ displayName: 'Lemon & "Books"', accentColor: "#0a7d4f", supportEmail: "help@lemonbooks.example" });
  await brand({ emailReceipts: "on" });
  await brand({ environment: Environment.LIVE, displayName: 'Lemon & "Books"', emailReceipts: "on" });
  await brand({ environment: Environment.LIVE, accentColor: "#0a7d4f", supportEmail: "help@lemonbooks.example" });
});

const owner = () => ({ merchantId: services.money.merchantId, environment: services.money.environment });
const brand = (change: MessageInitShape<typeof UpdateBrandingRequestSchema>) =>
  merchants.updateBranding({ ...owner(), ...change });
const aBuyer = () => `buyer${++buyers}@example.com`;

async function paid(customerEmail: string, change: SessionOrder = {}): Promise<CreatedSession> {
  const session = await services.create({ customerEmail, ...change });
  await session.pay();
  assert.equal((await session.confirm()).status, "completed");
  return session;
}

async function queued(objectId: string): Promise<{ status: string; attempts: number; row: string }[]> {
  const columns = "status, attempts, m::text as row";
  return (await database.query(`select ${columns} from mails m where object_id = $1`, [objectId])).rows;
}

const waitForMail = (objectId: string) =>
  eventually(`a mail about ${objectId}`, async () => (await queued(objectId))[0]);

/** Waits until the job has handled all earlier events: the receipt of a later payment is queued. */
async function jobIsThrough(): Promise<void> {
  const email = aBuyer();
  const mark = await paid(email);
  await waitForMail(mark.paymentId);
}

const home = { name: "Silent", email: "silent@example.com", country: "DE", currency: "EUR" };

interface Receipt {
  readonly email: string;
  readonly paymentId: string;
  readonly refundId?: string;
  readonly amount: bigint;
  readonly locale?: string;
  readonly reference?: string;
  readonly refundFailed?: boolean;
  readonly lines?: MessageInitShape<typeof ReceiptLineSchema>[];
  readonly merchantId?: string;
  readonly environment?: Environment;
}

/** Queues a receipt as checkout does, by default of a live payment. */
async function queueReceipt(receipt: Receipt): Promise<void> {
  const of = { ...owner(), environment: Environment.LIVE, currency: "EUR", at: timestampFromDate(new Date()) };
  await merchant.client(ReceiptService).queueReceipt({ ...of, ...receipt });
}

const lines = [
  { name: "Ground coffee <1 kg>", quantity: 2, amount: 1_980n },
  { name: "Voucher", quantity: 1, amount: -480n },
];

test("a sandbox buyer gets one receipt in the session's language, without any text of the shop", async () => {
  const email = aBuyer();
  const order = { amount: 1_500n, locale: "de-DE", orderReference: "order-1042", lineItems: lines };
  const session = await paid(email, order);
  const { merchantId } = owner();
  const mail = await sink.mailTo(email, `[Sandbox] Ihr Beleg von ${merchantId}`);
  assert.deepEqual(
    [mail.from?.value[0]?.name, mail.from?.value[0]?.address, mail.replyTo],
    ["Tollbooth", "mail@pay.example", undefined],
  );
  const text = mail.text ?? "";
  for (const fragment of ["15,00\u00a0€", session.paymentId, "4242", "Es fließt kein echtes Geld"]) {
    assert.ok(text.includes(fragment), fragment);
  }
  const html = String(mail.html);
  assert.ok(html.includes('lang="de-DE"'));
  const typed = ["Lemon", "coffee", "Voucher", "order-1042", "Order", "lemonbooks", "#0a7d4f"];
  for (const fragment of [...typed, session.secret, "cs_secret", "http"]) {
    assert.ok(!`${mail.subject}${text}${html}`.includes(fragment), fragment);
  }
  await jobIsThrough();
  assert.equal(sink.countTo(email), 1);
});

test("a live receipt has the merchant's name, branding and line items", async () => {
  const email = aBuyer();
  await queueReceipt({
    email,
    paymentId: newId("payment"),
    amount: 1_500n,
    locale: "de-DE",
    reference: "order-1042",
    lines,
  });
  const mail = await sink.mailTo(email, 'Ihr Beleg von Lemon & "Books"');
  assert.deepEqual(
    [mail.from?.value[0]?.name, mail.from?.value[0]?.address, mail.replyTo?.value[0]?.address],
    ['Lemon & "Books"', "mail@pay.example", "help@lemonbooks.example"],
  );
  const text = mail.text ?? "";
  for (const fragment of ["15,00\u00a0€", "2 × Ground coffee <1 kg>: 19,80\u00a0€", "-4,80\u00a0€", "order-1042"]) {
    assert.ok(text.includes(fragment), fragment);
  }
  assert.ok(text.includes("help@lemonbooks.example") && !text.includes("http"));
  const html = String(mail.html);
  assert.ok(html.includes("Ground coffee &lt;1 kg&gt;") && html.includes('lang="de-DE"') && html.includes("#0a7d4f"));
});

test("refunds of a payment within an hour make one mail about their total, in any order", async () => {
  const [email, paymentId] = [aBuyer(), newId("payment")];
  const refund = (amount: bigint, change: Partial<Receipt> = {}) =>
    queueReceipt({ email, paymentId, refundId: newId("refund"), amount, ...change });
  await refund(100n);
  await sink.mailTo(email, "Your refund from Lemon");
  const refunds = [100n, 250n, 400n].map((amount) => ({ name: newId("refund"), quantity: 1, amount }));
  const totals = [750n, 200n, 850n, 450n, 850n, 600n];
  await Promise.all(totals.map((total) => refund(total, total === 850n ? { lines: refunds } : {})));
  await refund(300n);
  assert.deepEqual((await queued(paymentId)).map(({ status }) => status).sort(), ["queued", "sent"]);
  const due = "next_attempt_at between now() + interval '50 minutes' and now() + interval '1 hour'";
  const waiting = `object_id = $1 and status = 'queued' and ${due}`;
  const moved = await database.query(`update mails set next_attempt_at = now() where ${waiting}`, [paymentId]);
  assert.equal(moved.rowCount, 1, "it waits for the end of the hour");
  await eventually("the second mail", () => sink.countTo(email) === 2);
  const text = sink.mails.findLast((mail) => [mail.to].flat()[0]?.text === email)?.text ?? "";
  for (const fragment of ["has refunded €8.50", ...refunds.map(({ name }) => name)])
    assert.ok(text.includes(fragment), fragment);
  await refund(850n);
  assert.equal((await queued(paymentId)).length, 2);
});

test("receipts of a merchant are limited to twenty an hour in the sandbox, and to the setting in live", async () => {
  const { merchant: spammer } = await merchants.createMerchant({ ...home, email: "spam@example.com" });
  const merchantId = spammer?.id ?? "";
  const { LIVE, SANDBOX } = Environment;
  for (const environment of [LIVE, SANDBOX]) {
    await merchants.updateBranding({ merchantId, environment, emailReceipts: "on" });
  }
  const queue = (environment: Environment) =>
    Promise.all(
      Array.from({ length: 30 }, (_, i) => {
        const paymentId = newId("payment");
        const refundId = i % 2 === 0 ? "" : newId("refund");
        return queueReceipt({ merchantId, environment, paymentId, refundId, amount: 100n, email: aBuyer() });
      }),
    );
  const count = async (environment: string) => {
    const of = "merchant_id = $1 and environment = $2";
    return (await database.query(`select 1 from mails where ${of}`, [merchantId, environment])).rowCount;
  };
  await queue(SANDBOX);
  assert.equal(await count("sandbox"), 20);
  await queue(LIVE);
  assert.equal(await count("live"), 25);
  await database.query("update mails set created_at = created_at - interval '1 hour' where merchant_id = $1", [
    merchantId,
  ]);
  await queue(SANDBOX);
  assert.equal(await count("sandbox"), 40, "the next hour has its own limit");
});

test("receipts are sent in the session's language, or in English for an unsupported one", async () => {
  const [japanese, arabic, finnish] = [aBuyer(), aBuyer(), aBuyer()];
  await paid(japanese, { locale: "ja", currency: "JPY", amount: 1_500n });
  await paid(arabic, { locale: "ar" });
  await paid(finnish, { locale: "fi" });
  assert.match((await sink.mailTo(japanese, "領収書")).text ?? "", /￥1,500|¥1,500/);
  assert.ok(String((await sink.mailTo(arabic, "إيصالك")).html).includes('dir="rtl"'));
  assert.match((await sink.mailTo(finnish, "Your receipt")).text ?? "", /You have paid €10\.50/);
});

test("a refund has its own mail with its amount", async () => {
  const email = aBuyer();
  const session = await paid(email);
  await sink.mailTo(email, "Your receipt");
  const paymentId = session.paymentId;
  const { refund } = await services.money.payments.refundPayment({ ...owner(), paymentId, amount: 250n });
  const mail = await sink.mailTo(email, "Your refund from");
  assert.ok(mail.text?.includes("has refunded €2.50") && !mail.text.includes("10.50"));
  assert.ok(!mail.text?.includes(refund?.id ?? ""), "one refund needs no list");
  const second = await services.money.payments.refundPayment({ ...owner(), paymentId, amount: 100n });
  const last = () => database.query("select 1 from mails where once_key = $1", [`refund_receipt:${paymentId}:350`]);
  await eventually("the mail about both", async () => (await last()).rowCount === 1);
  assert.ok(second.refund);
});

test("a refund that fails after its mail is corrected once, and mailed again when it is made again", async () => {
  const [email, paymentId, refundId] = [aBuyer(), newId("payment"), newId("refund")];
  const refund = { email, paymentId, refundId, amount: 250n };
  await queueReceipt(refund);
  await eventually("the mail about the refund", () => sink.countTo(email) === 1);
  for (const _ of [1, 2]) await queueReceipt({ ...refund, refundFailed: true });
  await eventually("its correction", () => sink.countTo(email) === 2);
  assert.match(sink.mails.at(-1)?.text ?? "", /Your refund of €2\.50 from .* could not be paid out/);
  await queueReceipt({ ...refund, refundId: newId("refund") });
  await eventually("the mail about the refund that is made again", () => sink.countTo(email) === 3);
  const neverMailed = { email: aBuyer(), paymentId: newId("payment"), refundId: newId("refund"), amount: 250n };
  await queueReceipt({ ...neverMailed, refundFailed: true });
  assert.deepEqual(await queued(neverMailed.paymentId), [], "nothing to correct");
});

test("a later capture has its receipt at capture, with the captured amount", async () => {
  const email = aBuyer();
  const order = { captureMethod: "manual", amount: 1_500n, lineItems: lines };
  const session = await paid(email, order);
  await jobIsThrough();
  assert.equal(sink.countTo(email), 0, "an authorization has no receipt");
  const { paymentId } = session;
  await services.money.payments.capturePayment({ ...owner(), paymentId, amount: 900n });
  const mail = await sink.mailTo(email, "Your receipt");
  assert.ok(mail.text?.includes("€9.00"));
  assert.ok(!mail.text?.includes("coffee"), "lines that do not sum to the amount are left out");
});

test("repeated and concurrent events queue one receipt", async () => {
  const email = aBuyer();
  const session = await paid(email);
  await sink.mailTo(email, "Your receipt");
  const completed = () => completionOf(session.id);
  await Promise.all(Array.from({ length: 8 }, () => mailReceipts(context(), [completed(), completed()])));
  assert.equal((await queued(session.paymentId)).length, 1);
  assert.equal(sink.countTo(email), 1);
});

test("an event alone makes no receipt: the payment must exist and be paid", async () => {
  const email = aBuyer();
  const [open, declined] = [
    await services.create({ customerEmail: email }),
    await services.create({ customerEmail: email }),
  ];
  await declined.pay(cards.declined);
  await declined.confirm();
  const refund = create(EventSchema, {
    ...completionOf(declined.id),
    type: "payment.refund_succeeded",
    attributes: { session_id: declined.id, refund_id: newId("refund") },
  });
  await mailReceipts(context(), [
    completionOf(open.id),
    completionOf(declined.id),
    refund,
    completionOf(newId("session")),
  ]);
  assert.equal((await queued(open.paymentId)).length + (await queued(declined.paymentId)).length, 0);
});

test("a session without an e-mail is skipped, and one that gets an e-mail before the payment has a receipt", async () => {
  const session = await services.create();
  const email = aBuyer();
  await mailReceipts(context(), [completionOf(session.id)]);
  await services.checkout.giveEmail({ sessionId: session.id, sessionSecret: session.secret, customerEmail: email });
  await session.pay();
  await session.confirm();
  await sink.mailTo(email, "Your receipt");
});

test("while the mail server is down the payment completes, and the receipt follows", async () => {
  const email = aBuyer();
  sink.refuse(email, 451);
  const session = await paid(email);
  const waiting = async () => (await queued(session.paymentId))[0];
  await eventually("a first try", async () => (await waiting())?.attempts === 1);
  assert.equal((await waiting())?.status, "queued");
  assert.ok(!(await waiting())?.row.includes(email), "queued mails are encrypted");
  sink.refuse(email, undefined);
  await database.query("update mails set next_attempt_at = now() where object_id = $1", [session.paymentId]);
  await sink.mailTo(email, "Your receipt");
});

test("a merchant with receipts off sends none; one that was suspended after the payment still does", async () => {
  const [silent, suspended] = [aBuyer(), aBuyer()];
  const other = await merchants.createMerchant(home);
  const unwanted = await paid(silent, { merchantId: other.merchant?.id ?? "" });
  const session = await services.create({ customerEmail: suspended });
  await session.pay();
  const { merchantId } = owner();
  await merchants.updateMerchantState({ merchantId, status: "suspended" });
  try {
    await session.confirm();
    await sink.mailTo(suspended, "Your receipt");
  } finally {
    await merchants.updateMerchantState({ merchantId, status: "active" });
  }
  assert.equal((await queued(unwanted.paymentId)).length, 0);
});

test("a buyer who asks on the receipt page gets one mail, although the merchant sends none, and only of a paid session", async () => {
  const { merchant: silent } = await merchants.createMerchant({ ...home, email: "asked@example.com" });
  const email = aBuyer();
  const order = { merchantId: silent?.id ?? "", captureMethod: "manual", customerEmail: email };
  const session = await services.create(order);
  const named = { sessionId: session.id, sessionSecret: session.secret };
  const tokenOf = async () => {
    const { receiptPageUrl } = await services.checkout.resolveSession(named);
    return receiptPageUrl === "" ? "" : (new URL(receiptPageUrl).searchParams.get("receipt") ?? "");
  };
  assert.equal(await tokenOf(), "", "no token before it is paid");
  await session.pay();
  await session.confirm();
  const asked = { sessionId: session.id, receiptToken: await tokenOf() };
  assert.equal((await services.checkout.mailReceipt(asked)).queued, false, "an authorization has no receipt");
  const authorized = await services.checkout.describeReceipt(asked);
  assert.deepEqual([authorized.payment?.capturedAmount, authorized.payment?.status], [0n, "succeeded"]);
  const of = { merchantId: order.merchantId, environment: services.money.environment, paymentId: session.paymentId };
  await services.money.payments.capturePayment({ ...of, amount: 900n });
  const asking = Array.from({ length: 5 }, () => services.checkout.mailReceipt(asked));
  assert.ok((await Promise.all(asking)).every(({ queued }) => queued));
  assert.ok((await sink.mailTo(email, "Your receipt")).text?.includes("€9.00"));
  assert.equal((await queued(session.paymentId)).length, 1);
  await services.money.payments.refundPayment({ ...of, amount: 400n });
  const { payment, session: shown, hasEmail } = await services.checkout.describeReceipt(asked);
  assert.deepEqual([payment?.capturedAmount, payment?.refundedAmount, payment?.cardLast4], [900n, 400n, "4242"]);
  assert.equal(payment?.paymentMethod, "card");
  assert.deepEqual([shown?.customerEmail, hasEmail], ["", true]);
  const other = await paid(aBuyer());
  for (const [sessionId, receiptToken] of [
    [other.id, asked.receiptToken],
    [session.id, `${asked.receiptToken.slice(0, -1)}${asked.receiptToken.endsWith("A") ? "B" : "A"}`],
    [session.id, session.secret.slice(-43)],
    [session.id, ""],
  ] as const) {
    await assert.rejects(services.checkout.describeReceipt({ sessionId, receiptToken }), isRefusal("NOT_FOUND"));
    await assert.rejects(services.checkout.mailReceipt({ sessionId, receiptToken }), isRefusal("NOT_FOUND"));
  }
  const forged = { sessionId: session.id, sessionSecret: `cs_secret_${session.id.slice(3)}_${asked.receiptToken}` };
  await assert.rejects(services.checkout.resolveSession(forged), isRefusal("NOT_FOUND"));
  const asReturn = { sessionId: session.id, returnToken: asked.receiptToken };
  await assert.rejects(services.checkout.describeReturn(asReturn), isRefusal("NOT_FOUND"));
});

test("refuses receipts for an invalid address or an unknown merchant", async () => {
  const receipts = merchant.client(ReceiptService);
  const at = { seconds: 1_700_000_000n };
  const facts = { ...owner(), paymentId: newId("payment"), amount: 100n, currency: "EUR", at };
  await assert.rejects(receipts.queueReceipt({ ...facts, email: "no address" }), isRefusal("INVALID_BODY", "email"));
  await assert.rejects(
    receipts.queueReceipt({ ...facts, merchantId: newId("merchant"), email: aBuyer() }),
    isRefusal("NOT_FOUND"),
  );
});

function completionOf(sessionId: string): Event {
  return create(EventSchema, {
    id: newId("event"),
    type: "session.completed",
    source: "checkout",
    objectId: sessionId,
  });
}

const context = () => ({
  db: services.db,
  log: createLog("test", "fatal"),
  payments: services.money.payments,
  merchants,
  receipts: merchant.client(ReceiptService),
});

test.run();
