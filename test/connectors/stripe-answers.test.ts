// The Stripe connector against the fake of its API: what only Stripe has. Errors as the five answers, attempts without a charge,
// refunds and disputes, Stripe's own page, webhooks during a roll.
import assert from "node:assert/strict";
import { Failure } from "#platform/failure.ts";
import { newId } from "#platform/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Answer, CreatedIntent, IntentOrder, IntentReport } from "../../services/payments/connectors/connector.ts";
import { signed } from "../harness/fake-stripe.ts";
import { type StripeFault, stripeFaults } from "../harness/stripe-faults.ts";
import { misfits, parseForm } from "../harness/stripe-form.ts";
import type { Json } from "../harness/stripe-records.ts";
import { suite } from "../harness/suite.ts";
import { kinds, statementOf, valueIn } from "./contract.ts";
import { credentials, type StripeRig, startStripeRig } from "./stripe-rig.ts";

const test = suite("Stripe", { timeoutMs: 20_000 });
let rig: StripeRig;

test.before(async () => {
  rig = await startStripeRig();
});
test.after(() => rig.stop());

const order = (members: Partial<IntentOrder> = {}): IntentOrder => ({
  reference: newId("payment"),
  amount: 1_050n,
  currency: "EUR",
  description: "",
  returnUrl: "https://shop.example/return",
  surface: "embedded",
  ...members,
});
const key = () => newId("operation");
const create = (wanted = order(), idempotencyKey: string = key()) =>
  rig.connector.createIntent(rig.account, wanted, idempotencyKey);
const created = async (members: Partial<IntentOrder> = {}): Promise<CreatedIntent> =>
  valueIn(await create(order(members)));
const read = async (ref: string): Promise<IntentReport> =>
  valueIn(await rig.connector.retrieveIntent(rig.account, ref));
const refund = (report: IntentReport, amount: bigint) =>
  rig.connector.createRefund(
    rig.account,
    { intentRef: report.ref, reference: newId("refund"), amount, currency: report.currency, reason: "the wrong size" },
    key(),
  );

const paid = async (members: Partial<IntentOrder> = {}): Promise<IntentReport> => {
  const { report } = await created(members);
  rig.stripe.pay(report.ref);
  return await read(report.ref);
};
/** What came of a command that one fault struck, in one request. */
async function struck<T>(fault: StripeFault, send: () => Promise<Answer<T>>): Promise<Answer<T>> {
  const commands = () => rig.fake.requests.filter(({ method }) => method === "POST").length;
  rig.fake.failNext("POST", /\/(payment_intents|refunds)$/, fault);
  const before = commands();
  const answer = await send();
  assert.equal(commands(), before + 1, `${fault}: the SDK does not try again by itself`);
  return answer;
}

test("an answer that does not say what becomes of the request is unknown, whatever Stripe had done by then", async () => {
  for (const fault of stripeFaults) {
    if (["401", "403", "missing", "slow"].includes(fault)) continue;
    assert.equal((await struck(fault, () => create())).kind, "unknown", fault);
    const report = await paid();
    assert.equal((await struck(fault, () => refund(report, 100n))).kind, "unknown", `a refund, ${fault}`);
  }
});

test("credentials that Stripe refuses are a call that surely did nothing, and an unknown answer to a question", async () => {
  for (const fault of ["401", "403"] as const) {
    assert.equal((await struck(fault, () => create())).kind, "not_sent", fault);
    rig.fake.failNext("GET", /payment_intents\/pi_/, fault);
    assert.equal((await rig.connector.retrieveIntent(rig.account, "pi_1")).kind, "unknown", fault);
  }
});

test("a stored fault is repeated under its key, and another order under a key is never made", async () => {
  const [wanted, spent] = [order(), key()];
  rig.fake.failNext("POST", /payment_intents$/, "500");
  for (let i = 0; i < 2; i++) assert.equal((await create(wanted, spent)).kind, "unknown", "the same 500 again");
  valueIn(await create(wanted, key()));
  const used = key();
  valueIn(await create(order(), used));
  assert.equal((await create(order(), used)).kind, "unknown");
});

test("an amount or a return address that Stripe cannot take is told as such, and nothing is sent", async () => {
  const before = rig.fake.requests.length;
  const kuwait = await create(order({ amount: 5_124n, currency: "KWD" }));
  assert.equal(kuwait.kind === "declined" && kuwait.code, "amount_not_accepted");
  const nowhere = await create(order({ surface: "redirect", returnUrl: "" }));
  assert.equal(nowhere.kind === "declined" && nowhere.code, "return_url_missing");
  assert.equal(rig.fake.requests.length, before);
  const small = await create(order({ amount: 49n }));
  assert.equal(small.kind === "declined" && small.code, "amount_not_accepted");
  const iceland = await created({ amount: 500n, currency: "ISK" });
  assert.deepEqual([iceland.report.amount, rig.stripe.intent(iceland.report.ref).amount], [500n, 50_000]);
});

test("a challenge is asked for, failing it is a failed attempt without a charge, passing it pays", async () => {
  const { report } = await created();
  rig.stripe.pay(report.ref, "pm_card_authenticationRequired");
  assert.deepEqual(kinds(await read(report.ref)), ["action_required"]);
  rig.stripe.decide(report.ref, "fail");
  const [failed] = (await read(report.ref)).facts;
  assert.ok(failed?.kind === "attempt_failed" && failed.code === "payment_intent_authentication_failure");
  rig.stripe.pay(report.ref, "pm_card_authenticationRequired");
  rig.stripe.decide(report.ref, "pass");
  const [paid] = (await read(report.ref)).facts;
  assert.ok(paid?.kind === "attempt_succeeded");
  const { threeDsResult, threeDsVersion, riskScore } = paid.attempt.verification ?? {};
  assert.deepEqual([threeDsResult, threeDsVersion, riskScore], ["authenticated", "2.2.0", 12]);
  assert.match(paid.receiptUrl, /^https:\/\/pay\.stripe\.com\//);
  assert.equal(paid.authorizationCode, "A1B2C3");
});

test("an asynchronous payment is processing until it is decided, and cannot be canceled meanwhile", async () => {
  const { report } = await created();
  rig.stripe.pay(report.ref, "pm_card_asynchronous");
  assert.deepEqual(kinds(await read(report.ref)), ["processing_started"]);
  const canceled = await rig.connector.cancelIntent(rig.account, report.ref);
  assert.equal(canceled.kind === "declined" && canceled.code, "not_cancelable");
  rig.stripe.decide(report.ref, "pass");
  assert.deepEqual(kinds(await read(report.ref)), ["attempt_succeeded"]);
});

test("refunds: pending ones, ones that fail later, the dashboard's, and more than fit a page", async () => {
  const { report } = await created();
  const intent = rig.stripe.pay(report.ref);
  rig.stripe.refundsPend = true;
  const pending = await refund(report, 100n);
  rig.stripe.refundsPend = false;
  assert.equal(pending.kind, "pending");
  rig.stripe.failRefund(valueIn(pending).ref);
  const [failed] = (await read(report.ref)).refunds;
  assert.deepEqual([failed?.status, failed?.failureCode], ["failed", "expired_or_canceled_card"]);
  for (let i = 0; i < 12; i++) rig.stripe.refund(intent, 10);
  const all = (await read(report.ref)).refunds;
  assert.deepEqual([all.length, all.filter(({ reference }) => reference === "").length], [13, 12]);
});

test("disputes have the contract's statuses, and the day until which evidence is taken", async () => {
  const { report } = await created();
  rig.stripe.pay(report.ref);
  const { id } = rig.stripe.dispute(report.ref, "warning_needs_response");
  const statuses = {
    warning_under_review: "warning_under_review",
    needs_response: "needs_response",
    under_review: "under_review",
    lost: "lost",
    appeal_under_review: "lost",
    won: "won",
    prevented: "warning_closed",
  };
  for (const [stripe, ours] of Object.entries(statuses)) {
    rig.stripe.moveDispute(id, stripe);
    const [dispute] = (await read(report.ref)).disputes;
    assert.equal(dispute?.status, ours, stripe);
    assert.ok(dispute?.evidenceDueAt && dispute.evidenceDueAt > dispute.openedAt);
  }
  rig.stripe.moveDispute(id, "needs_response");
  const answer = await refund(report, 100n);
  assert.equal(answer.kind === "declined" && answer.code, "not_refundable");
});

test("a statement goes through all of Stripe's pages, and passes over what others take on the account", async () => {
  const { report } = await created();
  const intent = rig.stripe.pay(report.ref);
  const refunds = Array.from({ length: 101 }, () => rig.stripe.refund(intent, 1).id);
  const dispute = rig.stripe.dispute(report.ref);
  const others = rig.stripe.createIntent({ amount: 900, currency: "eur" });
  const othersRefund = rig.stripe.refund(rig.stripe.pay(others.id), 100).id;
  const period = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
  const lines = await statementOf(rig, period);
  const ours = lines.filter(({ intentRef }) => intentRef === report.ref);
  assert.deepEqual(
    ours.filter(({ object }) => object === "refund").map(({ ref }) => ref),
    refunds.toReversed(),
  );
  const held = { object: "dispute", ref: dispute.id, intentRef: report.ref, amount: 1_050n, currency: "EUR" };
  assert.deepEqual(
    ours.filter(({ object }) => object === "dispute"),
    [{ ...held, status: "needs_response" }],
  );
  assert.deepEqual(
    lines.filter(({ ref, intentRef }) => intentRef === others.id || ref === othersRefund),
    [],
  );
});

test("Stripe's own page: declined, paid, told by its intent's events, refunded, all under the page's reference", async () => {
  const { report } = await created({ surface: "redirect", description: "Order 7" });
  assert.match(report.ref, /^cs_test_/);
  assert.equal((await refund(report, 100n)).kind, "declined", "nobody has paid");
  const { id } = rig.stripe.payOnPage(report.ref, "pm_card_chargeDeclined");
  assert.deepEqual(kinds(await read(report.ref)), ["attempt_failed"]);
  rig.stripe.payOnPage(report.ref);
  assert.deepEqual(kinds(await read(report.ref)), ["attempt_failed", "attempt_succeeded"]);
  const byIntent = await read(id);
  assert.deepEqual([byIntent.ref, byIntent.reference], [report.ref, report.reference]);
  assert.equal(valueIn(await refund(report, 100n)).amount, 100n);
  const abandoned = await created({ surface: "redirect" });
  rig.stripe.payOnPage(abandoned.report.ref, "pm_card_chargeDeclined");
  const canceled = valueIn(await rig.connector.cancelIntent(rig.account, abandoned.report.ref));
  assert.deepEqual(kinds(canceled), ["attempt_failed", "intent_canceled"]);
});

test("an order among too many others is found by search, and a search that finds nothing proves nothing", async () => {
  const { report } = await created();
  for (let i = 0; i < 1_001; i++) rig.stripe.createIntent({ amount: 100, currency: "eur", metadata: {} });
  const found = valueIn(
    await rig.connector.findIntent(rig.account, { reference: report.reference, surface: "embedded" }),
  );
  assert.equal(found.report.ref, report.ref);
  assert.equal(
    (await rig.connector.findIntent(rig.account, { reference: newId("payment"), surface: "embedded" })).kind,
    "unknown",
  );
});

const eventOf = (type: string, object: Json, members: Json = {}) => ({
  id: rig.stripe.newId("evt"),
  object: "event",
  type,
  livemode: false,
  created: rig.stripe.now(),
  data: { object },
  ...members,
});
const receive = (event: Json, account = rig.account, secret: string = credentials.webhook_secret) => {
  const { body, header } = signed(event, secret);
  return rig.connector.readEvent(account, Buffer.from(body), { "stripe-signature": header });
};

test("during a roll each of several secrets is accepted, and no other", () => {
  const event = eventOf("payment_intent.succeeded", { object: "payment_intent", id: "pi_1", metadata: {} });
  const rolling = { ...rig.account, credentials: { ...credentials, webhook_secret: "whsec_new,whsec_old" } };
  for (const secret of ["whsec_new", "whsec_old"]) assert.equal(receive(event, rolling, secret).id, event.id);
  assert.throws(
    () => receive(event, rolling, "whsec_other"),
    (error) => error instanceof Failure && error.reason === "UNAUTHORIZED",
  );
});

test("an event names the intent to ask for, if it may be one of ours and says something", () => {
  const ours = { tollbooth_payment: newId("payment") };
  const asked = (type: string, object: Json) => receive(eventOf(type, object)).intentRef;
  assert.equal(asked("payment_intent.canceled", { object: "payment_intent", id: "pi_1", metadata: ours }), "pi_1");
  assert.equal(asked("payment_intent.canceled", { object: "payment_intent", id: "pi_2", metadata: {} }), "");
  assert.equal(asked("checkout.session.expired", { object: "checkout.session", id: "cs_1", metadata: ours }), "cs_1");
  assert.equal(asked("charge.dispute.created", { object: "dispute", id: "du_1", payment_intent: "pi_3" }), "pi_3");
  assert.equal(asked("refund.failed", { object: "refund", id: "re_1", payment_intent: null, metadata: {} }), "");
  assert.equal(asked("payment_intent.created", { object: "payment_intent", id: "pi_1", metadata: ours }), "");
  assert.equal(asked("invoice.paid", { object: "invoice", id: "in_1" }), "");
});

test("an event of the other environment, and a signed body that is no event, are invalid", () => {
  const object = { object: "payment_intent", id: "pi_1", metadata: {} };
  const invalid = (error: unknown) => error instanceof Failure && error.reason === "INVALID_BODY";
  assert.throws(() => receive(eventOf("payment_intent.succeeded", object, { livemode: true })), invalid);
  assert.throws(() => receive({ id: "evt_1" }), invalid);
  assert.throws(() => receive({ object: "v2.core.event", id: "evt_1" }), invalid);
});

test("keys of the other environment are refused by their form, whatever Stripe would say", () => {
  const names = (environment: Environment, given: Record<string, string>) =>
    rig.connector.judgeCredentials(environment, given).map(({ name }) => name);
  assert.deepEqual(names(Environment.SANDBOX, credentials), []);
  assert.deepEqual(names(Environment.LIVE, credentials), ["secret_key", "publishable_key"]);
  const live = { ...credentials, secret_key: "rk_live_1", publishable_key: "pk_live_1" };
  assert.deepEqual(names(Environment.LIVE, live), []);
  assert.deepEqual(names(Environment.SANDBOX, live), ["secret_key", "publishable_key"]);
  const swapped = { ...credentials, secret_key: credentials.publishable_key };
  assert.deepEqual(names(Environment.SANDBOX, swapped), ["secret_key"]);
});

test("the fake refuses what the SDK's types do not publish", () => {
  const wrong = (text: string) => misfits(parseForm(text), "PaymentIntents.d.ts", "PaymentIntentCreateParams");
  assert.deepEqual(wrong("amount=100&currency=eur&capture_method=automatic&metadata[a]=b"), []);
  assert.deepEqual(wrong("amount=1.5&capture_method=later&colour=red&automatic_payment_methods[on]=true"), [
    "not an integer: amount",
    "not one of PaymentIntentCreateParams.CaptureMethod: capture_method",
    "parameter_unknown: colour",
    "parameter_unknown: automatic_payment_methods[on]",
  ]);
});

test.run();
