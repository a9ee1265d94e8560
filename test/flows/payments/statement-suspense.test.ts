// The match of a statement with books that hold something in suspense, at the real processor and at one that captures
// too much: right books agree with it, wrong ones do not, and what is missed is taken in.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Database } from "#platform/database/database.ts";
import { newId } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/members.ts";
import type { IntentReport, RefundReport } from "../../../services/payments/connectors/connector.ts";
import { provenValue } from "../../../services/payments/flows/accounts/ask-processor.ts";
import { matchStatement, type StatementMatch } from "../../../services/payments/flows/match-statement.ts";
import { settlePayment } from "../../../services/payments/flows/settle-payment.ts";
import { giveBack } from "../../../services/payments/flows/suspense/give-back.ts";
import { findPayment } from "../../../services/payments/store/payments.ts";
import { listDifferences } from "../../../services/payments/store/processor/statements.ts";
import { type StoredSuspense, suspenseAbout } from "../../../services/payments/store/suspense.ts";
import { type MoneyServices, startMoneyServices } from "../../harness/payments/money-services.ts";
import { suite } from "../../harness/suite.ts";
import { paymentsDeps } from "./deps.ts";
import { captured, type Played, playedPayments, reportOf } from "./played.ts";

const test = suite("statements and suspense", { timeoutMs: 30_000 });
const hourMs = 3_600_000;
let services: MoneyServices;
let deps: Awaited<ReturnType<typeof paymentsDeps>>;
let db: Database;
/** Of a processor that captures too much, which the simulator never does. */
let played: Played;
test.before(async () => {
  services = await startMoneyServices({ reconcileAfterSeconds: 3_600, hearsNothing: true });
  deps = await paymentsDeps(services, 3_600);
  played = await playedPayments();
  db = deps.db;
});
test.after(async () => {
  await deps.stop();
  await played.db.close();
  await services.stop();
});

async function at(path: string, body: object = {}): Promise<string> {
  const answer = await services.processor("POST", path, body);
  assert.ok(answer.status < 300, `${path} ${JSON.stringify(answer.body)}`);
  return String(membersOf(answer.body).id);
}

async function accountOf(paymentId: string) {
  const payment = (await findPayment(db, paymentId)) ?? assert.fail("no payment");
  return await deps.accounts.byId(payment.connectorAccountId);
}

/** Settles by what the processor says of an intent, or by what it never said of it. */
async function heard(paymentId: string, ref: string, change: Partial<IntentReport> = {}): Promise<void> {
  const account = await accountOf(paymentId);
  const report = provenValue(await deps.connectors.get("simulator").retrieveIntent(account, ref));
  await db.transaction((tx) => settlePayment(tx, deps, paymentId, { ...report, ...change }, "processor"));
}

/** A payment of 1,000 that its own intent has paid. */
async function paid(): Promise<{ readonly paymentId: string; readonly ref: string }> {
  const paymentId = newId("payment");
  const owner = { merchantId: services.merchantId, environment: services.environment };
  const expiresAt = timestampFromDate(new Date(Date.now() + hourMs));
  const order = { amount: 1_000n, currency: "EUR", expiresAt, sessionId: `cs_${paymentId.slice(4)}` };
  await services.payments.createIntent({ ...owner, ...order, paymentId });
  const ref = (await findPayment(db, paymentId))?.connectorRef ?? assert.fail("no intent");
  await at(`/test/intents/${ref}/pay`, { card: "4242424242424242" });
  await heard(paymentId, ref);
  return { paymentId, ref };
}

/** The same with a second charge, which is held. @returns the second intent */
async function paidTwice(): Promise<{ readonly paymentId: string; readonly ref: string }> {
  const { paymentId, ref: own } = await paid();
  const ref = await at(`/test/intents/${own}/duplicate`);
  await heard(paymentId, ref);
  return { paymentId, ref };
}

async function itemAbout(ref: string): Promise<StoredSuspense> {
  return (await suspenseAbout(db, "simulator", ref))[0] ?? assert.fail(`no item about ${ref}`);
}

async function stands(ref: string): Promise<string> {
  const { state, resolution, amount, returned } = await itemAbout(ref);
  return `${[state, resolution].join(" ").trim()}, ${amount - returned} held`;
}

/** Matches an hour that begins so many hours before now. */
async function matched(paymentId: string, { hoursAgo = 1 } = {}): Promise<StatementMatch> {
  const from = new Date(Date.now() - hoursAgo * hourMs + 60_000);
  return await matchStatement(deps, await accountOf(paymentId), { from, to: new Date(from.getTime() + hourMs) });
}

/** Differences of a payment that are open; resolved for the test after this one. */
async function openAbout(paymentId: string): Promise<readonly string[]> {
  const all = await listDifferences(db, { accountId: "", openOnly: true }, { limit: 100, beforeId: 0n });
  await db.rows("update statement_differences set resolved_at = now() where payment_id = $1", [paymentId]);
  return all
    .filter((one) => one.paymentId === paymentId)
    .map((one) => `${one.object} ${one.kind} ${one.ours}|${one.theirs}`);
}

test("a second charge is no difference, neither while it is held, nor on its way back, nor when it was given back", async () => {
  const { paymentId, ref } = await paidTwice();
  assert.equal((await matched(paymentId)).differences, 0);
  const pending = await at(`/test/intents/${ref}/refunds`, { amount: 400, status: "pending" });
  assert.equal((await matched(paymentId)).differences, 0);
  await giveBack(deps, await itemAbout(ref));
  assert.equal((await matched(paymentId)).differences, 0);
  await at(`/test/refunds/${pending}`, { status: "succeeded" });
  await heard(paymentId, ref);
  assert.equal(await stands(ref), "closed given_back, 0 held");
  assert.deepEqual(await matched(paymentId).then(({ imported, differences }) => [imported, differences]), [0, 0]);
});

test("a second charge whose debit came back is no difference", async () => {
  const { paymentId, ref } = await paidTwice();
  await at(`/test/intents/${ref}/return`);
  await heard(paymentId, ref);
  assert.equal(await stands(ref), "closed given_back, 0 held");
  assert.equal((await matched(paymentId)).differences, 0);
});

test("a refund of a second charge that nobody told of is taken in: the intent that the line names is asked about", async () => {
  const { paymentId, ref } = await paidTwice();
  await at(`/test/intents/${ref}/refunds`, { amount: 1_000 });
  const { imported, differences } = await matched(paymentId);
  assert.deepEqual([imported > 0, differences], [true, 0]);
  assert.equal(await stands(ref), "closed given_back, 0 held");
});

test("a second charge that nobody told of is taken in, and held", async () => {
  const { paymentId, ref: own } = await paid();
  const ref = await at(`/test/intents/${own}/duplicate`);
  assert.equal((await matched(paymentId)).differences, 0);
  assert.equal(await stands(ref), "open, 1000 held");
});

/** Our books say that a second charge went back, and the processor has no such refund. */
async function neverGivenBack(): Promise<{ readonly paymentId: string; readonly ref: string }> {
  const { paymentId, ref } = await paidTwice();
  const text = { reason: "", failureCode: "", failureMessage: "", reference: (await itemAbout(ref)).id };
  const refunds = [{ ...text, ref: `rf_${ref}`, amount: 1_000n, status: "succeeded", createdAt: new Date() } as const];
  await heard(paymentId, ref, { refunds });
  assert.equal(await stands(ref), "closed given_back, 0 held");
  return { paymentId, ref };
}

test("a give-back that the processor never made is a difference, and none once it is made", async () => {
  const { paymentId, ref } = await neverGivenBack();
  await matched(paymentId);
  assert.deepEqual(await openAbout(paymentId), ["payment amount 0|1000"]);
  await matched(paymentId);
  const { id: reference } = await itemAbout(ref);
  await at(`/test/intents/${ref}/refunds`, { amount: 1_000, reference });
  assert.equal((await matched(paymentId)).resolved, 1);
  assert.deepEqual(await openAbout(paymentId), []);
});

/** The journal's rows of a payment are of another hour. */
async function movedHoursLater(paymentId: string, hours: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.rows("set local session_replication_role = replica");
    await tx.rows("update journal set created_at = created_at + make_interval(hours => $2) where payment_id = $1", [
      paymentId,
      hours,
    ]);
  });
}

test("it is found on the day of the give-back, too, of which the statement has nothing", async () => {
  const { paymentId } = await neverGivenBack();
  await movedHoursLater(paymentId, 30);
  const { lines } = await matched(paymentId, { hoursAgo: -29 });
  assert.equal(lines, 0);
  assert.deepEqual(await openAbout(paymentId), ["payment amount 0|1000"]);
});

test("a second charge that we hold and that the processor does not know is a difference", async () => {
  const { paymentId, ref } = await paidTwice();
  await at(`/test/intents/${ref}/lose`);
  await matched(paymentId);
  assert.deepEqual(await openAbout(paymentId), ["payment unknown_to_processor 1000 EUR|"]);
});

interface Overcaptured {
  readonly paymentId: string;
  /** Refunds at the processor. */
  readonly refunds: RefundReport[];
  /** Settles by what the processor says, as after an event. */
  heard(): Promise<void>;
  matched(): Promise<StatementMatch>;
  /** State and what is held; what of it went back is the payment's. */
  stands(): Promise<string>;
  giveBack(): Promise<void>;
}

function refundOf(amount: bigint, reference = ""): RefundReport {
  const text = { reason: "", failureCode: "", failureMessage: "" };
  return { ...text, ref: newId("refund"), reference, amount, status: "succeeded", createdAt: new Date() };
}

/** What the processor says of each intent. */
const told = new Map<string, () => IntentReport>();

/** A payment of 1,000 of which the processor captured 1,000 and later 200 more. */
async function overcaptured(): Promise<Overcaptured> {
  const paymentId = await played.payment();
  await played.says(paymentId, { facts: [captured()] });
  const refunds: RefundReport[] = [];
  const report = () => reportOf(paymentId, { facts: [captured(1_200n)], refunds });
  const { ref } = report();
  told.set(ref, report);
  const line = { intentRef: ref, currency: "EUR" };
  const lines = () => [
    { ...line, object: "payment", ref, amount: 1_200n, status: "" },
    ...refunds.map((one) => ({ ...line, object: "refund", ref: one.ref, amount: one.amount, status: one.status })),
  ];
  played.answers = {
    retrieveIntent: (_account, asked) => ({ kind: "succeeded", value: told.get(String(asked))?.() }),
    readStatement: () => ({ kind: "succeeded", value: { lines: lines(), next: "" } }),
    findRefund: () => ({ kind: "not_found", at: new Date(), cause: new Error("none") }),
    createRefund: (_account, order) => {
      const { amount, reference } = order as { readonly amount: bigint; readonly reference: string };
      refunds.push(refundOf(amount, reference));
      return { kind: "succeeded", value: refunds.at(-1) };
    },
  };
  const item = async () => (await suspenseAbout(played.db, "simulator", ref))[0] ?? assert.fail("no item");
  const period = { from: new Date(Date.now() - hourMs), to: new Date(Date.now() + hourMs) };
  return {
    paymentId,
    refunds,
    heard: () => played.says(paymentId, report()),
    matched: async () => await matchStatement(played.deps, await played.deps.accounts.byId(""), period),
    stands: async () => {
      const [{ state, amount, returned }, payment] = [await item(), await findPayment(played.db, paymentId)];
      return `${state}, ${amount - returned} held, ${payment?.state.refundedAmount} refunded`;
    },
    giveBack: async () => await giveBack(played.deps, await item()),
  };
}

test("an overcapture is no difference, neither while it is held beside the capture nor when it was given back", async () => {
  const { refunds, heard, matched, stands, giveBack } = await overcaptured();
  assert.equal((await matched()).differences, 0);
  assert.equal(await stands(), "open, 200 held, 0 refunded");
  assert.equal((await matched()).imported, 0);
  refunds.push(refundOf(300n));
  await heard();
  assert.deepEqual(await matched(), { lines: 2, imported: 0, differences: 0, resolved: 0 });
  await giveBack();
  assert.equal(await stands(), "closed, 0 held, 300 refunded");
  assert.deepEqual(await matched(), { lines: 3, imported: 0, differences: 0, resolved: 0 });
});

test("an overcapture of which one refund gave back all is no difference: a part of it is the payment's", async () => {
  const { refunds, heard, matched, stands } = await overcaptured();
  await heard();
  refunds.push(refundOf(1_200n));
  const { imported, differences } = await matched();
  assert.deepEqual([imported > 0, differences], [true, 0]);
  assert.equal(await stands(), "closed, 0 held, 1000 refunded");
});

test.run();
