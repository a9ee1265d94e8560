// What a processor says of a payment's own intent, and first or later says otherwise: each attempt's money is in the
// books once, the payment's part as its capture and only the rest in suspense. With a real PostgreSQL and a processor
// that answers as the test says; the auditor looks at the books after each story.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import { booksDifferences } from "../../../services/payments/audit/books.ts";
import { booksAfter } from "../../../services/payments/audit/read-books.ts";
import type { RefundReport } from "../../../services/payments/connectors/connector.ts";
import {
  type RebuildDeps,
  rebuildPayment,
  unknownOrder,
} from "../../../services/payments/flows/recovery/rebuild-payment.ts";
import { driveGiveBack } from "../../../services/payments/flows/suspense/give-back.ts";
import { resolveSuspense } from "../../../services/payments/flows/suspense/resolve-suspense.ts";
import { checkPayments } from "../../../services/payments/jobs/reconcile.ts";
import { findOperation, openOperation } from "../../../services/payments/store/operations.ts";
import { findPayment } from "../../../services/payments/store/payments.ts";
import { closeSuspense, suspenseOf } from "../../../services/payments/store/suspense.ts";
import { suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";
import { authorized, captured, noAnswer, owner, type Played, playedPayments, reportOf } from "./played.ts";

const test = suite("what is held of the own intent", { timeoutMs: 20_000 });
const at = new Date("2026-01-01T12:00:00Z");
let played: Played;
test.before(async () => {
  played = await playedPayments();
});
test.after(() => played.db.close());
test.afterEach(() => Object.assign(played, { answers: {} }));

let refunds = 0;
function refund(amount: bigint, reference = ""): RefundReport {
  const text = { reason: "", failureCode: "", failureMessage: "" };
  return { ...text, ref: `rf_${refunds++}`, reference, amount, status: "succeeded", createdAt: at };
}

/** Of the item: state, what is held, and what the payment itself keeps; of the payment: what it has captured. */
async function stands(paymentId: string) {
  const item = await suspenseOf(played.db, "simulator", `pi_${paymentId}`, "other_amount");
  const payment = (await findPayment(played.db, paymentId)) ?? assert.fail("no payment");
  const { capturedAmount, refundedAmount } = payment.state;
  return {
    id: item?.id ?? "",
    is: `${item?.state} ${item?.resolution}`.trim(),
    held: item,
    capturedAmount,
    refundedAmount,
  };
}

async function suspended(paymentId: string): Promise<number> {
  const [row] = await played.db.rows<{ balance: string }>(
    `select coalesce(sum(case 'suspense' when credit then amount when debit then -amount end), 0) as balance
     from journal where payment_id = $1`,
    [paymentId],
  );
  return Number(row?.balance);
}

async function audited(paymentId: string): Promise<readonly string[]> {
  const all = await booksAfter(played.db, "", 1_000);
  return booksDifferences(all.find(({ id }) => id === paymentId) ?? assert.fail("no books"));
}

const word = { action: "give_back", operator: "ann", note: "" } as const;
const answers = (paymentId: string, change: Parameters<typeof reportOf>[1]) => () =>
  ({ kind: "succeeded", value: reportOf(paymentId, change) }) as const;

test("what is captured beyond the authorization is held alone, and the payment's own capture stays its own", async () => {
  for (const own of [400n, 1_000n]) {
    const id = await played.payment({ captureMethod: "manual" });
    await played.says(id, { facts: [captured(own)] });
    for (const _ of "twice") await played.says(id, { facts: [captured(1_001n)] });
    const { is, held, capturedAmount } = await stands(id);
    assert.deepEqual([is, held?.amount, held?.kept, capturedAmount], ["open", 1_001n - own, own, own]);
    assert.equal(await suspended(id), Number(1_001n - own));
    assert.deepEqual(await audited(id), []);
  }
});

test("a refund of a payment whose processor holds too much is the payment's", async () => {
  const id = await played.payment();
  await played.says(id, { facts: [captured()] });
  await played.says(id, { facts: [captured(1_500n)], refunds: [refund(300n)] });
  assert.deepEqual([(await stands(id)).refundedAmount, await suspended(id)], [300n, 500]);
  assert.deepEqual(await audited(id), []);
});

test("an operator gives back what is held beyond the capture, and nothing of the capture", async () => {
  const id = await played.payment();
  await played.says(id, { facts: [captured()] });
  const before = [refund(300n)];
  await played.says(id, { facts: [captured(1_500n)], refunds: before });
  const item = await stands(id);
  const asked: unknown[] = [];
  played.answers.retrieveIntent = answers(id, { facts: [captured(1_500n)], refunds: before });
  played.answers.findRefund = () => ({ kind: "not_found", at, cause: new Error("none") });
  played.answers.createRefund = (_account, order) => {
    asked.push((order as { amount: bigint }).amount);
    const value = refund(500n, item.id);
    played.answers.retrieveIntent = answers(id, { facts: [captured(1_500n)], refunds: [...before, value] });
    return { kind: "succeeded", value };
  };
  await resolveSuspense(played.deps, { ...word, suspenseId: item.id });
  assert.deepEqual(asked, [500n]);
  const { is, capturedAmount, refundedAmount } = await stands(id);
  assert.deepEqual([is, capturedAmount, refundedAmount], ["closed given_back", 1_000n, 300n]);
  assert.equal(await suspended(id), 0);
  assert.deepEqual(await audited(id), []);
});

test("what is held more of after it was given back is given back as well", async () => {
  const id = await played.payment();
  await played.says(id, { facts: [captured()] });
  await played.says(id, { facts: [captured(1_200n)] });
  const item = await stands(id);
  const made: RefundReport[] = [];
  let taken = 1_200n;
  played.answers.retrieveIntent = () => answers(id, { facts: [captured(taken)], refunds: made.toReversed() })();
  played.answers.findRefund = () => ({ kind: "not_found", at, cause: new Error("none") });
  played.answers.createRefund = (_account, order) => {
    const { amount, reference } = order as { amount: bigint; reference: string };
    made.push(refund(amount, reference));
    return { kind: "succeeded", value: made.at(-1) };
  };
  await resolveSuspense(played.deps, { ...word, suspenseId: item.id });
  assert.equal((await stands(id)).is, "closed given_back");
  taken = 1_300n;
  await played.says(id, { facts: [captured(taken)], refunds: made.toReversed() });
  assert.deepEqual([(await stands(id)).is, await suspended(id)], ["open", 100]);
  await resolveSuspense(played.deps, { ...word, suspenseId: item.id });
  assert.deepEqual([(await stands(id)).is, await suspended(id)], ["closed given_back", 0]);
  assert.deepEqual(
    made.map(({ amount, reference }) => [amount, reference]),
    [
      [200n, item.id],
      [100n, `${item.id}.2`],
    ],
  );
  assert.deepEqual(await audited(id), []);
});

test("a try to give back that surely made nothing is followed by another one at once, however old its key", async () => {
  const id = await played.payment();
  await played.says(id, { amount: 900n, facts: [captured(900n)] });
  const item = await stands(id);
  const names: string[] = [];
  played.answers.retrieveIntent = answers(id, { amount: 900n, facts: [captured(900n)] });
  played.answers.findRefund = () => ({ kind: "not_found", at: new Date(), cause: new Error("none") });
  played.answers.createRefund = (_account, order) => {
    names.push((order as { reference: string }).reference);
    return { kind: "unknown", cause: new Error("no answer") };
  };
  const ask = () => resolveSuspense(played.deps, { ...word, suspenseId: item.id });
  await ask();
  const past = "interval '100 days'";
  await played.db.rows(
    `update operations set key_since = now() - ${past}, not_found_since = now() - ${past} where reference = $1`,
    [item.id],
  );
  await ask();
  assert.deepEqual(names, [item.id, `${item.id}.2`]);
});

test("an intent that was told with another amount and turns out right is the payment's, held no longer, and asked about again", async () => {
  const id = await played.payment();
  await played.says(id, { amount: 900n, facts: [captured(900n)] });
  assert.deepEqual([(await stands(id)).is, await suspended(id)], ["open", 900]);
  await played.says(id, { facts: [captured()] });
  const { is, capturedAmount } = await stands(id);
  assert.deepEqual([is, capturedAmount, await suspended(id)], ["closed found", 1_000n, 0]);
  assert.deepEqual(await audited(id), []);
  // The right report was the older one: the look finds it out.
  played.answers.retrieveIntent = answers(id, { facts: [captured(1_001n)] });
  await checkPayments(played.deps);
  assert.deepEqual([(await stands(id)).is, await suspended(id)], ["open", 1]);
  assert.deepEqual(await audited(id), []);
});

test("an intent that turns out right while it is given back is the payment's, paid and refunded, and is not ended", async () => {
  const id = await played.payment();
  await played.says(id, { amount: 900n, facts: [captured(900n)] });
  const item = await stands(id);
  played.answers.retrieveIntent = answers(id, { amount: 900n, facts: [captured(900n)] });
  played.answers.findRefund = () => ({ kind: "not_found", at, cause: new Error("none") });
  played.answers.createRefund = () => {
    const value = refund(900n, item.id);
    played.answers.retrieveIntent = answers(id, { facts: [captured()], refunds: [value] });
    return { kind: "succeeded", value };
  };
  await resolveSuspense(played.deps, { ...word, suspenseId: item.id });
  const { is, capturedAmount, refundedAmount } = await stands(id);
  assert.deepEqual([is, capturedAmount, refundedAmount], ["closed found", 1_000n, 900n]);
  assert.equal((await findPayment(played.db, id))?.state.outcome, "succeeded");
  assert.equal(await suspended(id), 0);
  assert.deepEqual(await audited(id), []);
});

test("a debit that came back takes with it what was held of it", async () => {
  const id = await played.payment();
  await played.says(id, { amount: 900n, facts: [captured(900n)] });
  const failed = { kind: "attempt_failed", attempt: captured().attempt, code: "returned", message: "", at } as const;
  await played.says(id, { facts: [failed] });
  assert.deepEqual([(await stands(id)).is, await suspended(id)], ["closed found", 0]);
  assert.deepEqual(await audited(id), []);
});

test("that it was authorized lets go of nothing that was taken: such a report may be the older one", async () => {
  const id = await played.payment({ captureMethod: "manual" });
  await played.says(id, { facts: [captured(1_001n)] });
  await played.says(id, { facts: [authorized()] });
  assert.deepEqual([(await stands(id)).is, await suspended(id)], ["open", 1_001]);
  assert.deepEqual(await audited(id), []);
});

test("a recovery knows a payment whose intent is in the operators' list, open or ended, and none that it could not ask about", async () => {
  const rebuild = (id: string) => {
    const merchants = { listConnectors: () => assert.fail("a known payment is looked for") };
    const deps = { ...played.deps, merchants: merchants as unknown as RebuildDeps["merchants"] };
    return rebuildPayment(deps, { ...unknownOrder, ...owner, id, sessionId: newId("session") });
  };
  const known = async () => {
    const id = await played.payment();
    await played.db.rows("update payments set connector_ref = $2 where id = $1", [id, `pi_${id}`]);
    return id;
  };
  for (const isGivenBack of [false, true]) {
    const id = await known();
    const charge = { amount: 900n, facts: [captured(900n)] };
    await played.says(id, charge);
    const told = isGivenBack ? { ...charge, refunds: [refund(900n, (await stands(id)).id)] } : charge;
    await played.says(id, told);
    assert.equal((await stands(id)).is, isGivenBack ? "closed given_back" : "open");
    played.answers.retrieveIntent = answers(id, told);
    assert.equal((await rebuild(id)).outcome, RebuildOutcome.KNOWN);
  }
  const lost = await known();
  const missing = (seconds: number) => () => ({ kind: "not_found", at: new Date(at.getTime() + seconds * 1_000) });
  played.answers.retrieveIntent = missing(0);
  await assert.rejects(rebuild(lost), refused("CONNECTOR_ERROR"), "a replica of the processor may lag");
  for (const seconds of [500, 900]) {
    played.answers.retrieveIntent = missing(seconds);
    assert.equal((await rebuild(lost)).outcome, RebuildOutcome.KNOWN, "it is in the list");
  }
  played.answers.retrieveIntent = () => noAnswer;
  await assert.rejects(rebuild(lost), refused("CONNECTOR_ERROR"));
});

test("an intent of another amount is taken as the merchant's by nobody, whatever it holds and whatever is under way", async () => {
  for (const amount of [600n, 900n, 1_001n, 60_000n]) {
    for (const isGivenBack of [false, true]) {
      const id = await played.payment();
      await played.says(id, { amount, facts: [captured(amount)] });
      const { id: suspenseId } = await stands(id);
      const begun = { id: newId("operation"), paymentId: id, reference: suspenseId, sentAfter: at };
      if (isGivenBack) await openOperation(played.db, "give_back", begun, 30);
      played.answers.retrieveIntent = answers(id, { amount, facts: [captured(amount)] });
      const take = resolveSuspense(played.deps, { ...word, action: "take", suspenseId });
      await assert.rejects(take, refused("INVALID_BODY"));
      const { is, capturedAmount } = await stands(id);
      assert.deepEqual([is, capturedAmount, await suspended(id)], ["open", 0n, Number(amount)]);
      assert.equal((await findPayment(played.db, id))?.state.amount, 1_000n, "what was asked for stays");
      assert.deepEqual(await audited(id), []);
    }
  }
});

test("what a release before took while it was given back is not given back any more", async () => {
  const id = await played.payment();
  await played.says(id, { amount: 900n, facts: [captured(900n)] });
  const item = await stands(id);
  const begun = { id: newId("operation"), paymentId: id, reference: item.id, sentAfter: at };
  await openOperation(played.db, "give_back", begun, 30);
  const end = { resolution: "taken", operator: "ann", note: "" } as const;
  await played.db.transaction((tx) => closeSuspense(tx, item.id, end));
  assert.equal(await driveGiveBack(played.deps, item.id), "the item was taken");
  assert.equal((await findOperation(played.db, "give_back", item.id))?.state, "done");
});

test.run();
