// Receipts by e-mail: one for each payment and each refund, in the merchant's name and the session's language, by a
// real SMTP server; and what may go wrong on the way, of which no payment ever hears. All services are real.
import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import pg from "pg";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { ReceiptService } from "#proto/merchant/v1/receipts_pb.ts";
import { tellBuyers } from "../../services/checkout/jobs/send-receipts.ts";
import { eventually } from "../harness/eventually.ts";
import { cards } from "../harness/pay.ts";
import { type SmtpSink, startSmtpSink } from "../harness/smtp-sink.ts";
import { suite } from "../harness/suite.ts";
import { type CheckoutServices, type Created, type SessionOrder, startCheckoutServices } from "./checkout-services.ts";
import { refused } from "./service-config.ts";

const test = suite("receipts by e-mail", { timeoutMs: 60_000 });
let sink: SmtpSink;
let services: CheckoutServices;
let merchant: Peer;
let merchants: Client<typeof MerchantService>;
let database: pg.Client;
let buyers = 0;

test.before(async () => {
  sink = await startSmtpSink();
  services = await startCheckoutServices(undefined, undefined, { smtpUrl: sink.url });
  const { urls, settings, merchantDatabaseUrl } = services.money;
  merchant = connectPeer({ url: urls.merchant, token: settings.RPC_TOKEN });
  merchants = merchant.client(MerchantService);
  database = new pg.Client({ connectionString: merchantDatabaseUrl });
  await database.connect();
  await brand({ displayName: 'Lemon & "Books"', accentColor: "#0a7d4f", supportEmail: "help@lemonbooks.example" });
  await brand({ emailReceipts: "on" });
});
test.after(async () => {
  await database?.end();
  merchant?.close();
  await services?.stop();
  await sink?.stop();
});

const owner = () => ({ merchantId: services.money.merchantId, environment: services.money.environment });
const brand = (change: Record<string, string>) => merchants.updateBranding({ ...owner(), ...change });
const aBuyer = () => `buyer${++buyers}@example.com`;

async function paid(customerEmail: string, change: SessionOrder = {}): Promise<Created> {
  const session = await services.create({ customerEmail, ...change });
  await session.pay();
  assert.equal((await session.confirm()).status, "completed");
  return session;
}

async function queued(objectId: string): Promise<{ status: string; attempts: number; row: string }[]> {
  const columns = "status, attempts, m::text as row";
  return (await database.query(`select ${columns} from mails m where object_id = $1`, [objectId])).rows;
}

const told = (objectId: string) => eventually(`a mail about ${objectId}`, async () => (await queued(objectId))[0]);

/** The news of a payment that nobody has a receipt for came to the job before: what comes after it, too. */
async function jobIsThrough(): Promise<void> {
  const email = aBuyer();
  const mark = await paid(email);
  await told(mark.paymentId);
}

const lines = [
  { name: "Ground coffee <1 kg>", quantity: 2, amount: 1_980n },
  { name: "Voucher", quantity: 1, amount: -480n },
];

test("a buyer gets one receipt, in the session's language and the merchant's name, with what was paid and no link", async () => {
  const email = aBuyer();
  const order = { amount: 1_500n, locale: "de-DE", orderReference: "order-1042", lineItems: lines };
  const session = await paid(email, order);
  const mail = await sink.mailTo(email, 'Ihr Beleg von Lemon & "Books"');
  assert.match(mail.subject ?? "", /^\[Sandbox\] /);
  assert.deepEqual(
    [mail.from?.value[0]?.name, mail.from?.value[0]?.address, mail.replyTo?.value[0]?.address],
    ['Lemon & "Books"', "mail@pay.example", "help@lemonbooks.example"],
  );
  const text = mail.text ?? "";
  for (const part of ["15,00\u00a0€", "2 × Ground coffee <1 kg>: 19,80\u00a0€", "-4,80\u00a0€", "order-1042", "4242"]) {
    assert.ok(text.includes(part), part);
  }
  assert.ok(text.includes("Echtes Geld wird dabei nicht bewegt"));
  assert.ok(text.includes("help@lemonbooks.example"));
  const html = String(mail.html);
  assert.ok(html.includes("Ground coffee &lt;1 kg&gt;") && html.includes('lang="de-DE"') && html.includes("#0a7d4f"));
  for (const secret of [session.secret, "cs_secret", "http"]) assert.ok(!`${text}${html}`.includes(secret), secret);
  await jobIsThrough();
  assert.equal(sink.countTo(email), 1);
});

test("who pays is told whatever the language; one that we have not is told in English", async () => {
  const [japanese, arabic, finnish] = [aBuyer(), aBuyer(), aBuyer()];
  await paid(japanese, { locale: "ja", currency: "JPY", amount: 1_500n });
  await paid(arabic, { locale: "ar" });
  await paid(finnish, { locale: "fi" });
  assert.match((await sink.mailTo(japanese, "領収書")).text ?? "", /￥1,500|¥1,500/);
  assert.ok(String((await sink.mailTo(arabic, "إيصالك")).html).includes('dir="rtl"'));
  assert.match((await sink.mailTo(finnish, "Your receipt")).text ?? "", /You have paid €10\.50/);
});

test("the e-mail that the buyer gave on the page gets the receipt", async () => {
  const email = aBuyer();
  const session = await services.create();
  await services.checkout.giveEmail({ sessionId: session.id, sessionSecret: session.secret, customerEmail: email });
  await session.pay();
  await session.confirm();
  await sink.mailTo(email, "Your receipt");
});

test("a refund has a mail of its own, with its own amount", async () => {
  const email = aBuyer();
  const session = await paid(email);
  await sink.mailTo(email, "Your receipt");
  const paymentId = session.paymentId;
  const { refund } = await services.money.payments.refundPayment({ ...owner(), paymentId, amount: 250n });
  const mail = await sink.mailTo(email, "Your refund from Lemon");
  assert.ok(mail.text?.includes("has refunded €2.50") && !mail.text.includes("10.50"));
  assert.equal((await queued(refund?.id ?? "")).length, 1);
});

test("what is captured later has its receipt when it is captured, of what was captured", async () => {
  const email = aBuyer();
  const order = { captureMethod: "manual", amount: 1_500n, lineItems: lines };
  const session = await paid(email, order);
  await jobIsThrough();
  assert.equal(sink.countTo(email), 0, "held is not paid");
  const { paymentId } = session;
  await services.money.payments.capturePayment({ ...owner(), paymentId, amount: 900n });
  const mail = await sink.mailTo(email, "Your receipt");
  assert.ok(mail.text?.includes("€9.00"));
  assert.ok(!mail.text?.includes("coffee"), "lines of another sum are left out");
});

test("an event that comes again, or with another id, or by several replicas at once, queues nothing more", async () => {
  const email = aBuyer();
  const session = await paid(email);
  await sink.mailTo(email, "Your receipt");
  const completed = () => completionOf(session.id);
  await Promise.all(Array.from({ length: 8 }, () => tellBuyers(context(), [completed(), completed()])));
  assert.equal((await queued(session.paymentId)).length, 1);
  assert.equal(sink.countTo(email), 1);
});

test("an event is no evidence: of a payment that is not made, or that nobody knows, nobody gets a receipt", async () => {
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
  await tellBuyers(context(), [
    completionOf(open.id),
    completionOf(declined.id),
    refund,
    completionOf(newId("session")),
  ]);
  assert.equal((await queued(open.paymentId)).length + (await queued(declined.paymentId)).length, 0);
});

test("without an e-mail nothing is asked; one that comes with the next news of the payment gets its receipt", async () => {
  const session = await services.create();
  const email = aBuyer();
  await tellBuyers(context(), [completionOf(session.id)]);
  await services.checkout.giveEmail({ sessionId: session.id, sessionSecret: session.secret, customerEmail: email });
  await session.pay();
  await session.confirm();
  await sink.mailTo(email, "Your receipt");
});

test("while no mail server answers the payment is made all the same, and the receipt follows", async () => {
  const email = aBuyer();
  sink.refuse(email, 451);
  const session = await paid(email);
  const waiting = async () => (await queued(session.paymentId))[0];
  await eventually("a first try", async () => (await waiting())?.attempts === 1);
  assert.equal((await waiting())?.status, "queued");
  assert.ok(!(await waiting())?.row.includes(email), "what waits is ciphertext");
  sink.refuse(email, undefined);
  await database.query("update mails set next_attempt_at = now() where object_id = $1", [session.paymentId]);
  await sink.mailTo(email, "Your receipt");
});

test("a merchant who sends no receipts sends none; one who was suspended since the payment was made still does", async () => {
  const [silent, suspended] = [aBuyer(), aBuyer()];
  const home = { name: "Silent", email: "silent@example.com", country: "DE", currency: "EUR" };
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

test("receipts are queued for who has such an address and for a merchant who is there, and for nobody else", async () => {
  const receipts = merchant.client(ReceiptService);
  const at = { seconds: 1_700_000_000n };
  const facts = { ...owner(), paymentId: newId("payment"), amount: 100n, currency: "EUR", at };
  await assert.rejects(receipts.queueReceipt({ ...facts, email: "no address" }), refused("INVALID_BODY", "email"));
  await assert.rejects(
    receipts.queueReceipt({ ...facts, merchantId: newId("merchant"), email: aBuyer() }),
    refused("NOT_FOUND"),
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
