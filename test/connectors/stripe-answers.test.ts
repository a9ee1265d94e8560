// The Stripe connector against the fake of its API: what only Stripe has. Errors as the five answers, attempts without
// a charge, refunds, Stripe's own page.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ProcessorAnswer } from "../../services/payments/connectors/connector.ts";
import { type StripeFault, stripeFaults } from "../harness/stripe/stripe-faults.ts";
import { suite } from "../harness/suite.ts";
import { factKinds, valueIn } from "./contract.ts";
import { credentials, type StripeRig, StripeShop, startStripeRig } from "./stripe-rig.ts";

const test = suite("Stripe", { timeoutMs: 20_000 });
let rig: StripeRig;

test.before(async () => {
  rig = await startStripeRig();
});
test.after(() => rig.stop());

const shop = new StripeShop(() => rig);
const order = shop.order.bind(shop);
const create = shop.create.bind(shop);
const created = shop.created.bind(shop);
const read = shop.read.bind(shop);
const refund = shop.refund.bind(shop);
/** The outcome of a command that meets one fault. */
async function struck<T>(fault: StripeFault, send: () => Promise<ProcessorAnswer<T>>): Promise<ProcessorAnswer<T>> {
  const commands = () => rig.fake.requests.filter(({ method }) => method === "POST").length;
  rig.fake.failNext("POST", /\/(payment_intents|refunds)$/, fault);
  const before = commands();
  const answer = await send();
  assert.equal(commands(), before + 1, `${fault}: the SDK does not try again by itself`);
  return answer;
}

test("an answer without an outcome is unknown, whatever Stripe had done", async () => {
  for (const fault of stripeFaults) {
    if (["401", "403", "missing", "slow"].includes(fault)) continue;
    assert.equal((await struck(fault, () => create())).kind, "unknown", fault);
    const report = await shop.paid();
    assert.equal((await struck(fault, () => refund(report, 100n))).kind, "unknown", `a refund, ${fault}`);
  }
});

test("an amount or return address that Stripe rejects is declined before anything is sent", async () => {
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

test("an amount that Stripe can never refund is declined before anything is sent", async () => {
  const kuwait = await shop.paid({ amount: 5_120n, currency: "KWD" });
  const ariary = await shop.paid({ amount: 20_000n, currency: "MGA" });
  const before = rig.fake.requests.length;
  for (const [report, amount] of [
    [kuwait, 1_235n],
    [ariary, 1_050n],
  ] as const) {
    assert.match(rig.connector.refusesAmount(amount, report.currency) ?? "", /^must /);
    const answer = await refund(report, amount);
    assert.equal(answer.kind === "declined" && answer.code, "amount_not_accepted", report.currency);
  }
  assert.equal(rig.fake.requests.length, before);
  assert.equal(rig.connector.refusesAmount(1_230n, "KWD"), undefined);
  assert.equal(valueIn(await refund(ariary, 1_100n)).amount, 1_100n);
});

test("a refund that Stripe refuses for good is declined: too much, nothing left, a debit that was returned", async () => {
  const report = await shop.paid();
  const code = async (amount: bigint) => {
    const answer = await refund(report, amount);
    return answer.kind === "declined" && answer.code;
  };
  assert.equal(await code(1_051n), "amount_too_large");
  rig.stripe.returnCharge(report.ref);
  assert.equal(await code(100n), "not_refundable");
});

test("a currency that Stripe does not support is declined", async () => {
  rig.stripe.refusedCurrencies.add("mru");
  const answer = await create(order({ currency: "MRU" }));
  assert.equal(answer.kind === "declined" && answer.code, "currency_not_accepted");
});

test("an asynchronous payment is processing until it is decided, and cannot be canceled meanwhile", async () => {
  const { report } = await created();
  rig.stripe.pay(report.ref, "pm_card_asynchronous");
  assert.deepEqual(factKinds(await read(report.ref)), ["processing_started"]);
  const canceled = await rig.connector.cancelIntent(rig.account, report.ref, "release");
  assert.equal(canceled.kind === "declined" && canceled.code, "not_cancelable");
  rig.stripe.decide(report.ref, "pass");
  assert.deepEqual(factKinds(await read(report.ref)), ["attempt_succeeded"]);
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

test("Stripe's own page: declined, paid, reported by its intent's events, refunded, all under the page's reference", async () => {
  const { report } = await created({ surface: "redirect", description: "Order 7" });
  assert.match(report.ref, /^cs_test_/);
  assert.equal((await refund(report, 100n)).kind, "declined", "unpaid");
  const { id } = rig.stripe.payOnPage(report.ref, "pm_card_chargeDeclined");
  assert.deepEqual(factKinds(await read(report.ref)), ["attempt_failed"]);
  rig.stripe.payOnPage(report.ref);
  assert.deepEqual(factKinds(await read(report.ref)), ["attempt_failed", "attempt_succeeded"]);
  const byIntent = await read(id);
  assert.deepEqual([byIntent.ref, byIntent.reference], [report.ref, report.reference]);
  // An account that offers pages may have a page behind any of its intents.
  for (const [metadata, surface] of [
    [{}, "embedded"],
    [{ tollbooth_payment: newId("payment") }, "redirect"],
  ] as const) {
    rig.stripe.intent(id).metadata = metadata;
    assert.equal(valueIn(await rig.connector.retrieveIntent({ ...rig.account, surface }, id)).ref, report.ref);
  }
  assert.equal(valueIn(await refund(report, 100n)).amount, 100n);
  const abandoned = await created({ surface: "redirect" });
  rig.stripe.payOnPage(abandoned.report.ref, "pm_card_chargeDeclined");
  const canceled = valueIn(await rig.connector.cancelIntent(rig.account, abandoned.report.ref, "release"));
  assert.deepEqual(factKinds(canceled), ["attempt_failed"]);
  assert.ok(canceled.pageEndedAt, "the page has ended for an unknown reason");
});

test("an expired page is reported as ended only, is found as such, and is replaced under its number", async () => {
  const order = shop.order({ surface: "redirect" });
  const first = valueIn(await shop.create(order));
  assert.ok(first.mount.expiresAt, "Stripe's expiry time");
  assert.equal((await read(first.report.ref)).pageEndedAt, undefined);
  rig.stripe.expirePage(first.report.ref);
  const ended = await read(first.report.ref);
  assert.deepEqual([factKinds(ended), Boolean(ended.pageEndedAt)], [[], true]);
  const renewed = valueIn(await shop.create({ ...order, renewal: 1 }));
  assert.notEqual(renewed.report.ref, first.report.ref);
  assert.equal(renewed.report.reference, order.reference);
  const { reference, surface } = order;
  const found = async (renewal?: number) => {
    const search = { reference, surface, ...(renewal !== undefined && { renewal }) };
    const answer = await rig.connector.findIntent(rig.account, search);
    return answer.kind === "succeeded" ? answer.value.report.ref : answer.kind;
  };
  assert.deepEqual(
    [await found(), await found(1), await found(2)],
    [first.report.ref, renewed.report.ref, "not_found"],
  );
  const { id } = rig.stripe.payOnPage(renewed.report.ref);
  const paid = await read(id);
  assert.deepEqual([paid.ref, factKinds(paid)], [renewed.report.ref, ["attempt_succeeded"]]);
});

test("keys of the other environment are rejected by their form, without a call", () => {
  const names = (environment: Environment, entered: Record<string, string>) =>
    rig.connector.judgeCredentials(environment, entered).map(({ name }) => name);
  assert.deepEqual(names(Environment.SANDBOX, credentials), []);
  assert.deepEqual(names(Environment.LIVE, credentials), ["secret_key", "publishable_key"]);
  const live = { ...credentials, secret_key: "rk_live_1", publishable_key: "pk_live_1" };
  assert.deepEqual(names(Environment.LIVE, live), []);
  assert.deepEqual(names(Environment.SANDBOX, live), ["secret_key", "publishable_key"]);
  const swapped = { ...credentials, secret_key: credentials.publishable_key };
  assert.deepEqual(names(Environment.SANDBOX, swapped), ["secret_key"]);
});

test.run();
