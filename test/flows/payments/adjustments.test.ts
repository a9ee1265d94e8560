// Journal adjustments over RPC on a real database: each needs two people, is posted once as proposed, and is audited;
// SQL refuses everything else.
import assert from "node:assert/strict";
import { connectPeer } from "#platform/rpc/client.ts";
import { callContext, nextTraceparent } from "#platform/values/call-context.ts";
import { newId } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { JournalService } from "#proto/payments/v1/journal_pb.ts";
import { auditAdjustments } from "../../../services/payments/audit/adjustments.ts";
import { checkJournal } from "../../../services/payments/jobs/check-journal.ts";
import { openDatabase } from "../../harness/database.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("journal adjustments", { timeoutMs: 30_000 });
const [ann, bob, cleo] = [newId("person"), newId("person"), newId("person")];
const reason = "A processor's fee was booked twice, ticket 4711.";

const services = fixture(test, () => startMoneyServices());
const db = fixture(test, () => openDatabase(services.paymentsDatabaseUrl));
const peer = fixture(test, () => connectPeer({ url: services.urls.payments, token: services.settings.RPC_TOKEN }));

function as<T>(actor: string, work: (journal: ReturnType<typeof client>) => Promise<T>): Promise<T> {
  const context = {
    requestId: newId("request"),
    actor,
    traceparent: nextTraceparent(undefined),
    deadlineMs: undefined,
  };
  return callContext.run(context, () => work(client()));
}

const client = () => peer.client(JournalService);
const owner = () => ({ merchantId: services.merchantId, environment: services.environment as Environment });
const goodwill = [{ currency: "EUR", debit: "adjustments", credit: "merchant_balance", amount: 250n }];
const proposalInput = (change: object = {}) => ({
  ...owner(),
  reason,
  lines: goodwill,
  idempotencyKey: newId("request"),
  ...change,
});

async function proposed(by: string, change: object = {}): Promise<string> {
  const { adjustment } = await as(by, (journal) => journal.proposeAdjustment(proposalInput(change)));
  return adjustment?.id ?? assert.fail();
}

async function posted(id: string): Promise<string[]> {
  const rows = await db.rows<{ line: string }>(
    "select format('%s: %s %s %s > %s', occurrence, amount, currency, debit, credit) as line from journal where cause = $1 order by occurrence",
    [id],
  );
  return rows.map(({ line }) => line);
}

async function differences(): Promise<string[]> {
  const found: string[] = [];
  await checkJournal(db, (difference) => found.push(...difference.differences));
  await auditAdjustments(db, (difference) => found.push(...difference.differences));
  return found;
}

const reasonOf = (reason: string) => (error: unknown) =>
  error instanceof Error && "reason" in error && error.reason === reason;

test("an adjustment that one person proposes and another approves is posted to the merchant's balance", async () => {
  const lines = [...goodwill, { currency: "USD", debit: "merchant_balance", credit: "fees_revenue", amount: 7n }];
  const id = await proposed(ann, { lines });
  assert.deepEqual(await posted(id), [], "nothing is posted by one person");
  const { adjustment } = await as(bob, (journal) => journal.approveAdjustment({ adjustmentId: id, note: "checked" }));
  assert.deepEqual([adjustment?.state, adjustment?.proposedBy, adjustment?.decidedBy], ["approved", ann, bob]);
  assert.deepEqual(await posted(id), [
    "0: 250 EUR adjustments > merchant_balance",
    "1: 7 USD merchant_balance > fees_revenue",
  ]);
  const { balances } = await services.payments.getBalances(owner());
  const of = (currency: string, account: string) =>
    balances.find((each) => each.currency === currency && each.account === account)?.amount;
  assert.deepEqual(
    [of("EUR", "adjustments"), of("EUR", "merchant_balance"), of("USD", "fees_revenue")],
    [250n, -250n, -7n],
  );
  const { entries } = await as(ann, (journal) => journal.listEntries({ merchantId: services.merchantId, limit: 10 }));
  assert.deepEqual(
    entries.filter(({ cause }) => cause === id).map(({ kind, paymentId }) => [kind, paymentId]),
    [
      ["adjusted", ""],
      ["adjusted", ""],
    ],
  );
  assert.deepEqual(await differences(), []);
});

test("the proposer cannot approve it, by RPC or in SQL, and may withdraw it", async () => {
  const id = await proposed(ann);
  await assert.rejects(
    as(ann, (journal) => journal.approveAdjustment({ adjustmentId: id })),
    reasonOf("FORBIDDEN"),
  );
  const byHand =
    "update journal_adjustments set state = 'approved', decided_by = proposed_by, decided_at = now() where id = $1";
  await assert.rejects(db.rows(byHand, [id]), /adjustment_has_four_eyes/);
  const { adjustment } = await as(ann, (journal) =>
    journal.rejectAdjustment({ adjustmentId: id, note: "a typing error" }),
  );
  assert.equal(adjustment?.state, "rejected");
  await assert.rejects(
    as(bob, (journal) => journal.approveAdjustment({ adjustmentId: id })),
    reasonOf("INVALID_BODY"),
  );
  assert.deepEqual(await posted(id), []);
});

test("refuses to propose or approve without a person", async () => {
  const id = await proposed(ann);
  for (const actor of ["", "operator", newId("apiKey")]) {
    await assert.rejects(
      as(actor, (journal) => journal.proposeAdjustment(proposalInput())),
      reasonOf("FORBIDDEN"),
    );
    await assert.rejects(
      as(actor, (journal) => journal.approveAdjustment({ adjustmentId: id })),
      reasonOf("FORBIDDEN"),
    );
  }
});

test("twenty concurrent approvals by two people post it once", async () => {
  const id = await proposed(ann);
  const approvals = Array.from({ length: 20 }, (_, i) =>
    as(i % 2 ? bob : cleo, (journal) => journal.approveAdjustment({ adjustmentId: id })),
  );
  const settled = await Promise.allSettled(approvals);
  assert.equal(settled.filter(({ status }) => status === "fulfilled").length, 10, "all of one, none of the other");
  assert.equal((await posted(id)).length, 1);
});

test("a form that is sent twice proposes once, and its key serves no other proposal", async () => {
  const key = newId("request");
  const [first, second] = await Promise.all([
    proposed(ann, { idempotencyKey: key }),
    proposed(ann, { idempotencyKey: key }),
  ]);
  assert.equal(first, second);
  const other = proposalInput({ idempotencyKey: key, reason: `${reason} Another.` });
  await assert.rejects(
    as(ann, (journal) => journal.proposeAdjustment(other)),
    reasonOf("IDEMPOTENCY_KEY_REUSE"),
  );
  assert.notEqual(await proposed(bob, { idempotencyKey: key }), first, "another person's key is another key");
});

test("the database refuses rows without an approved adjustment, repeated rows, and changes of a decided one", async () => {
  const id = await proposed(ann);
  const row = (cause: string, amount: number) =>
    db.rows(
      `insert into journal (merchant_id, environment, currency, kind, cause, occurrence, debit, credit, amount)
       values ($1, $2, 'EUR', 'adjusted', $3, 0, 'adjustments', 'merchant_balance', $4)`,
      [services.merchantId, services.environment, cause, amount],
    );
  await assert.rejects(row(id, 250), /no approved adjustment/);
  const approve =
    "update journal_adjustments set state = 'approved', decided_by = $2, decided_at = now() where id = $1";
  await assert.rejects(db.rows(approve, [id, bob]), /posted when it is approved/);
  await as(bob, (journal) => journal.approveAdjustment({ adjustmentId: id }));
  await assert.rejects(row(id, 250), /journal_of_adjustment/);
  await assert.rejects(row(id, 1), /journal_of_adjustment|no approved adjustment/);
  for (const change of [
    "update journal_adjustments set reason = 'something else altogether' where id = $1",
    "update journal_adjustments set state = 'rejected' where id = $1",
    "delete from journal_adjustments where id = $1",
    "update journal_adjustment_lines set amount = 1 where adjustment_id = $1",
    "delete from journal_adjustment_lines where adjustment_id = $1",
    `insert into journal_adjustment_lines (adjustment_id, position, currency, debit, credit, amount)
     values ($1, 1, 'EUR', 'adjustments', 'merchant_balance', 900)`,
  ]) {
    await assert.rejects(db.rows(change, [id]), /decided once|never changed|no more lines/, change);
  }
  const ofNoPayment = `insert into journal (merchant_id, environment, currency, kind, cause, debit, credit, amount)
    values ($1, $2, 'EUR', 'captured', 'at_1', 'processor_clearing', 'merchant_balance', 5)`;
  await assert.rejects(
    db.rows(ofNoPayment, [services.merchantId, services.environment]),
    /of_a_payment_or_an_adjustment/,
  );
});

test("the auditor finds rows that were written past the triggers", async () => {
  const id = await proposed(ann);
  await db.transaction(async (tx) => {
    await tx.rows("set local session_replication_role = replica");
    await tx.rows(
      `insert into journal (merchant_id, environment, currency, kind, cause, occurrence, debit, credit, amount)
       values ($1, $2, 'EUR', 'adjusted', $3, 0, 'adjustments', 'merchant_balance', 251), ($1, $2, 'EUR', 'adjusted', 'adj_none', 0, 'adjustments', 'merchant_balance', 1)`,
      [services.merchantId, services.environment, id],
    );
  });
  const found = await differences();
  assert.match(found.join("\n"), new RegExp(`${id} \\(proposed\\) must have posted \\[\\], the journal has`));
  assert.match(found.join("\n"), /adj_none: there is no such adjustment/);
  assert.equal(found.length, 2);
  await db.transaction(async (tx) => {
    await tx.rows("set local session_replication_role = replica");
    await tx.rows("delete from journal where cause in ($1, 'adj_none')", [id]);
  });
  assert.deepEqual(await differences(), []);
});

test("every step is announced with its person", async () => {
  const id = await proposed(ann);
  await as(bob, (journal) => journal.approveAdjustment({ adjustmentId: id }));
  const rows = await db.rows<{ subject: string; body: Buffer }>("select subject, body from outbox order by seq");
  const summaries = rows
    .filter(({ body }) => body.includes(id))
    .map(({ subject, body }) => [
      subject.replace(/^.*\.payments\./, ""),
      [ann, bob].filter((person) => body.includes(person)).length,
    ]);
  assert.deepEqual(summaries, [
    ["adjustment.proposed", 1],
    ["adjustment.approved", 2],
  ]);
});

test.run();
