// Adjustments of the journal over RPC and on a real database: two people for each, posted once and word for word, seen
// by the auditor, and nothing else can come into the books under their name.
import assert from "node:assert/strict";
import { Database } from "#platform/database/database.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { callContext, nextTraceparent } from "#platform/values/call-context.ts";
import { newId } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { JournalService } from "#proto/payments/v1/journal_pb.ts";
import { auditAdjustments } from "../../../services/payments/audit/adjustments.ts";
import { checkJournal } from "../../../services/payments/jobs/check-journal.ts";
import { type MoneyServices, startMoneyServices } from "../../harness/payments/money-services.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("journal adjustments", { timeoutMs: 30_000 });
let services: MoneyServices;
let db: Database;
let peer: ReturnType<typeof connectPeer>;
const [ann, bob, cleo] = [newId("person"), newId("person"), newId("person")];
const reason = "A processor's fee was booked twice, ticket 4711.";

test.before(async () => {
  services = await startMoneyServices();
  db = await Database.open({ url: services.paymentsDatabaseUrl, name: "test", log: createLog("test", "fatal") });
  peer = connectPeer({ url: services.urls.payments, token: services.settings.RPC_TOKEN });
});
test.after(async () => {
  peer.close();
  await db.close();
  await services.stop();
});

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
  const rows = await db.rows<{ said: string }>(
    "select format('%s: %s %s %s > %s', occurrence, amount, currency, debit, credit) as said from journal where cause = $1 order by occurrence",
    [id],
  );
  return rows.map(({ said }) => said);
}

async function differences(): Promise<string[]> {
  const found: string[] = [];
  await checkJournal(db, (difference) => found.push(...difference.differences));
  await auditAdjustments(db, (difference) => found.push(...difference.differences));
  return found;
}

const reasonOf = (reason: string) => (error: unknown) =>
  error instanceof Error && "reason" in error && error.reason === reason;

test("what one person proposes another one posts, and the merchant's balance has it", async () => {
  const lines = [...goodwill, { currency: "USD", debit: "merchant_balance", credit: "fees_revenue", amount: 7n }];
  const id = await proposed(ann, { lines });
  assert.deepEqual(await posted(id), [], "nothing is posted by one person");
  const { adjustment } = await as(bob, (journal) =>
    journal.approveAdjustment({ adjustmentId: id, note: "looked at it" }),
  );
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

test("whoever proposed it cannot approve it, in the service or in SQL, and may take it back", async () => {
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

test("a token alone is no person: nobody proposes or approves by it", async () => {
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

test("twenty approvals at once by two people post it once", async () => {
  const id = await proposed(ann);
  const approvals = Array.from({ length: 20 }, (_, i) =>
    as(i % 2 ? bob : cleo, (journal) => journal.approveAdjustment({ adjustmentId: id })),
  );
  const settled = await Promise.allSettled(approvals);
  assert.equal(settled.filter(({ status }) => status === "fulfilled").length, 10, "all of one, none of the other");
  assert.equal((await posted(id)).length, 1);
});

test("a form that is sent twice proposes once, and its key is no other proposal's", async () => {
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

test("a line that names no account or currency, and a payment of somebody else, are refused by their names", async () => {
  const refused = async (change: object) => {
    const error = await as(ann, (journal) => journal.proposeAdjustment(proposalInput(change))).catch(
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof Error && "violations" in error && Array.isArray(error.violations));
    return error.violations.map(({ field }: { field: string }) => field);
  };
  const line = { currency: "EUR", debit: "adjustments", credit: "merchant_balance", amount: 1n };
  assert.deepEqual(await refused({ lines: [line, { ...line, debit: "petty_cash" }] }), ["lines[1].debit"]);
  assert.deepEqual(await refused({ lines: [{ ...line, currency: "XXY" }] }), ["lines[0].currency"]);
  assert.deepEqual(await refused({ lines: [{ ...line, credit: "adjustments" }] }), ["lines[0].credit"]);
  assert.deepEqual(await refused({ aboutPaymentId: newId("payment") }), ["about_payment_id"]);
});

test("SQL takes no row that no approved adjustment says, none twice, and no change of what was decided", async () => {
  const id = await proposed(ann);
  const row = (cause: string, amount: number) =>
    db.rows(
      `insert into journal (merchant_id, environment, currency, kind, cause, occurrence, debit, credit, amount)
       values ($1, $2, 'EUR', 'adjusted', $3, 0, 'adjustments', 'merchant_balance', $4)`,
      [services.merchantId, services.environment, cause, amount],
    );
  await assert.rejects(row(id, 250), /no approved adjustment says this/);
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

test("the auditor finds a row that was written past the triggers, and an approval by one person", async () => {
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

test("every step is announced with its person, for the audit log", async () => {
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
