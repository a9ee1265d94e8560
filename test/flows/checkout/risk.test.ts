// Risk screening over RPC: rules, their effect at each stage, and the recorded decisions.
import assert from "node:assert/strict";
import { connectPeer } from "#platform/rpc/client.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { RiskKind, RiskService } from "#proto/checkout/v1/risk_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { type CreatedSession, startCheckoutServices } from "./services.ts";

const test = suite("risk screening of sessions", { timeoutMs: 30_000 });
const declined = "4000000000000002";

const services = fixture(test, () => startCheckoutServices());
const peer = fixture(test, () => connectPeer({ url: services.url, token: services.money.settings.RPC_TOKEN }));
const risk = fixture(test, () => peer.client(RiskService));
test.afterEach(async () => {
  const { rules } = await risk.listRules({ merchantId: services.money.merchantId });
  for (const { id } of rules) await risk.deleteRule({ ruleId: id });
});

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (cause) => cause,
  );
  return error === undefined ? "OK" : error instanceof Failure ? error.reason : String(error);
}

async function own(change: {
  kind: RiskKind;
  subject: string;
  limit?: bigint;
  windowSeconds?: number;
  entries?: string[];
}) {
  const { merchantId } = services.money;
  const { rule } = await risk.createRule({ merchantId, operator: "ada@example.com", ...change });
  assert(rule);
  return rule;
}

const open = (session: CreatedSession, address: string) =>
  services.checkout.resolveSession({ sessionId: session.id, sessionSecret: session.secret, address });
const confirm = (session: CreatedSession, address: string) =>
  services.checkout.confirmSession({ sessionId: session.id, sessionSecret: session.secret, address });

test("an amount above the cap is blocked, and the decision has the rule and its numbers", async () => {
  const rule = await own({ kind: RiskKind.AMOUNT_CAP, subject: "EUR", limit: 1_000n });
  assert.equal(await reasonOf(services.create({ amount: 1_001n })), "PAYMENT_BLOCKED");
  const passed = await services.create({ amount: 1_000n });
  const { decisions } = await risk.explainDecision({ sessionId: passed.id });
  assert.deepEqual(
    decisions.map(({ stage, blocked }) => ({ stage, blocked })),
    [{ stage: "create", blocked: false }],
  );
  const { merchantId, environment } = services.money;
  const { decisions: blocked } = await risk.listBlocked({ merchantId, environment, limit: 1 });
  const [match] = blocked[0]?.looks.filter(({ hit }) => hit) ?? [];
  assert.deepEqual([match?.ruleId, match?.measured, match?.limit], [rule.id, 1_001n, 1_000n]);
});

test("a changed or deleted rule takes effect immediately", async () => {
  const rule = await own({ kind: RiskKind.BLOCK_LIST, subject: "domain", entries: ["Spam.example"] });
  const customerEmail = "x@mail.spam.example";
  assert.equal(await reasonOf(services.create({ customerEmail })), "PAYMENT_BLOCKED");
  await risk.updateRule({ ruleId: rule.id, entries: { values: ["other.example"] }, operator: "ada" });
  assert.equal(await reasonOf(services.create({ customerEmail })), "OK");
  await risk.updateRule({ ruleId: rule.id, entries: { values: ["spam.example"] }, operator: "ada" });
  assert.equal(await reasonOf(services.create({ customerEmail })), "PAYMENT_BLOCKED");
  await risk.deleteRule({ ruleId: rule.id });
  assert.equal(await reasonOf(services.create({ customerEmail })), "OK");
});

test("default rules apply, and a merchant's rule replaces the one of its kind", async () => {
  const { merchantId } = services.money;
  const effective = async () => (await risk.listEffectiveRules({ merchantId, environment: Environment.SANDBOX })).rules;
  const perEmail = async () =>
    (await effective()).filter(({ kind, subject }) => kind === RiskKind.VELOCITY && subject === "email");
  assert.deepEqual(
    (await perEmail()).map(({ limit }) => limit),
    [500n],
  );
  assert.equal(await reasonOf(services.create({ customerEmail: "Blocked@Example.com" })), "PAYMENT_BLOCKED");
  await own({ kind: RiskKind.VELOCITY, subject: "email", limit: 2n, windowSeconds: 600 });
  const customerEmail = `${newId("request")}@example.com`;
  const reasons: string[] = [];
  for (let i = 0; i < 3; i++) reasons.push(await reasonOf(services.create({ customerEmail })));
  assert.deepEqual(reasons, ["OK", "OK", "PAYMENT_BLOCKED"]);
});

test("an address that opens too many sessions is blocked; reopening a session does not count", async () => {
  await own({ kind: RiskKind.VELOCITY, subject: "address", limit: 2n, windowSeconds: 600 });
  const sessions = await Promise.all([services.create(), services.create(), services.create()]);
  const [first, second, third] = sessions as [CreatedSession, CreatedSession, CreatedSession];
  const address = "8.8.4.4";
  for (const session of [first, second, first, second]) assert.equal(await reasonOf(open(session, address)), "OK");
  assert.equal(await reasonOf(open(third, address)), "PAYMENT_BLOCKED");
  assert.equal(await reasonOf(open(third, "8.8.8.8")), "OK");
});

test("declined cards across sessions block the address, and a payment that succeeded still completes", async () => {
  await own({ kind: RiskKind.CARD_TESTING, subject: "address", limit: 2n, windowSeconds: 600 });
  const [one, two, three] = await Promise.all([services.create(), services.create(), services.create()]);
  assert(one && two && three);
  const address = "9.9.9.9";
  await one.pay(declined);
  assert.equal((await confirm(one, address)).status, "open");
  assert.equal((await confirm(one, address)).status, "open", "a repeat does not count twice");
  await two.pay(declined);
  assert.equal(await reasonOf(confirm(two, address)), "PAYMENT_BLOCKED");
  assert.equal((await services.get(two.id)).status, "canceled");
  assert.equal(await two.pay(), "canceled", "its intent is canceled");
  assert.equal(await reasonOf(open(three, address)), "PAYMENT_BLOCKED");
  await three.pay();
  assert.equal((await confirm(three, address)).status, "completed");
  const { decisions } = await risk.explainDecision({ sessionId: two.id });
  assert.equal(
    decisions.some(({ stage, blocked }) => stage === "attempt" && blocked),
    true,
  );
});

test("a blocked card blocks later sessions of its e-mail address", async () => {
  const customerEmail = `${newId("request")}@example.com`;
  const session = await services.create({ customerEmail });
  await session.pay();
  assert.equal((await session.confirm()).status, "completed");
  const card = await eventually("the card to be noted", async () => {
    const [row] = await services.db.rows<{ card: string }>(
      `select card_fingerprint as card from risk_attempts where session_id = $1 and fact = 'paid'`,
      [session.id],
    );
    return row?.card;
  });
  await own({ kind: RiskKind.BLOCK_LIST, subject: "card_fingerprint", entries: [card] });
  assert.equal(await reasonOf(services.create({ customerEmail })), "PAYMENT_BLOCKED");
  assert.equal(await reasonOf(services.create()), "OK");
});

test("refuses duplicate and invalid rules", async () => {
  const cap = { kind: RiskKind.AMOUNT_CAP, subject: "EUR", limit: 1_000n };
  const rule = await own(cap);
  assert.equal(await reasonOf(own(cap)), "INVALID_BODY");
  assert.equal(await reasonOf(risk.updateRule({ ruleId: rule.id, limit: 0n, operator: "ada" })), "INVALID_BODY");
  assert.equal(await reasonOf(risk.updateRule({ ruleId: newId("riskRule"), operator: "ada" })), "NOT_FOUND");
});

test.run();
