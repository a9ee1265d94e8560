// Guarantees of the statement and suspense tables: lines match their own account, one worker claims a due account, a
// difference that returns is open again, and unexpected funds are closed once.
import assert from "node:assert/strict";
import { type Id, newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { insertPayments } from "../../../services/payments/store/new-payments.ts";
import {
  addNewAccounts,
  capturedIn,
  claimMatch,
  finishMatch,
  linesByRef,
  listDifferences,
  recordDifferences,
  resolveDifferences,
} from "../../../services/payments/store/processor/statements.ts";
import { closeFunds, findFunds, insertFunds } from "../../../services/payments/store/suspense.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { paymentInsert } from "../../harness/payments/payment-insert.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("tables of statements", { timeoutMs: 20_000 });

const db = fixture(test, async () => await openDatabase((await freshDatabase("payments")).url));

/** A captured payment, known to the processor as `ref`. */
async function captured(account: string, ref: string, at = new Date()): Promise<Id<"payment">> {
  const wanted = paymentInsert({ connectorAccountId: account });
  const { id } = wanted.payment;
  await insertPayments(db, [wanted]);
  await db.rows(
    `update payments set outcome = 'succeeded', captured_amount = amount, visible = true, connector_ref = $2, authorized_at = $3,
       captured_at = $3 where id = $1`,
    [id, ref, at.toISOString()],
  );
  return id;
}

async function refunded(paymentId: string, ref: string, status: string): Promise<void> {
  await db.rows(
    `with paid as (
       update payments set refunded_amount = refunded_amount + case when $3 in ('succeeded', 'pending') then 100 else 0 end
       where id = $4 returning *)
     insert into refunds (id, payment_id, merchant_id, environment, amount, currency, status, connector, connector_ref)
     select $1, id, merchant_id, environment, 100, currency, $3, connector, $2 from paid`,
    [newId("refund"), ref, status, paymentId],
  );
}

const period = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
const start = { capturedAt: "-infinity", id: "" };

test("statement lines are compared with ours of the same account", async () => {
  const [own, other] = ["mco_own", "mco_other"];
  const payment = await captured(own, "pi_own");
  await captured(other, "pi_other");
  await refunded(payment, "re_own", "succeeded");
  const lines = await linesByRef(db, { id: own, connector: "simulator" }, ["pi_own", "pi_other", "re_own"]);
  assert.deepEqual(lines.map(({ ref }) => ref).sort(), ["pi_own", "re_own"]);
  assert.deepEqual(await linesByRef(db, { id: other, connector: "simulator" }, ["pi_own", "re_own"]), []);
});

test("pages of captured payments have each payment once and end", async () => {
  const account = "mco_pages";
  const at = new Date();
  for (let i = 0; i < 5; i++) await captured(account, `pi_page_${i}`, at);
  const seen: string[] = [];
  let after: typeof start | undefined = start;
  for (let pages = 0; after !== undefined; pages++) {
    assert.ok(pages < 4, "the pages do not end");
    const page: Awaited<ReturnType<typeof capturedIn>> = await capturedIn(db, account, period, after, 2);
    seen.push(...page.lines.map(({ ref }) => ref));
    after = page.next;
  }
  assert.deepEqual(
    seen.sort(),
    [0, 1, 2, 3, 4].map((i) => `pi_page_${i}`),
  );
});

test("only a succeeded refund is expected in a statement", async () => {
  const account = "mco_refunds";
  const payment = await captured(account, "pi_refunds");
  for (const status of ["succeeded", "pending", "failed", "canceled"]) await refunded(payment, `re_${status}`, status);
  const { lines } = await capturedIn(db, account, period, start, 10);
  assert.deepEqual(lines.map(({ ref }) => ref).sort(), ["pi_refunds", "re_succeeded"]);
});

test("a difference is recorded once, resolved when it is gone, and open again when it returns", async () => {
  const account = "mco_differences";
  const difference = {
    object: "payment",
    ref: "pi_gone",
    kind: "unknown_to_processor",
    paymentId: "",
    ours: "1000 EUR",
    theirs: "",
  } as const;
  const open = async () =>
    (await listDifferences(db, { accountId: account, openOnly: true }, { limit: 10, beforeId: 0n })).length;
  assert.equal(await recordDifferences(db, account, [difference]), 1);
  assert.equal(await recordDifferences(db, account, [difference]), 0);
  assert.equal(await open(), 1);
  assert.equal(await resolveDifferences(db, account, ["pi_gone"]), 1);
  assert.equal(await open(), 0);
  await recordDifferences(db, account, [difference]);
  assert.equal(await open(), 1);
});

test("a due account is claimed by one worker, also before the claim commits", async () => {
  await addNewAccounts(db);
  await db.rows("update statement_matches set due_at = now() + interval '1 hour'");
  assert.equal(await claimMatch(db, 60), undefined, "none is due");
  await db.rows("update statement_matches set due_at = now() where connector_account_id in ('mco_own', 'mco_other')");
  await db.transaction(async (first) => {
    const one = await claimMatch(first, 60);
    const another = await claimMatch(db, 60);
    assert.deepEqual([one?.accountId, another?.accountId].sort(), ["mco_other", "mco_own"]);
    assert.equal(await claimMatch(db, 60), undefined);
  });
  await finishMatch(db, "mco_own", { matchedUntil: new Date(), pauseSeconds: 0, error: "" });
  assert.equal((await claimMatch(db, 60))?.accountId, "mco_own");
});

test("unexpected funds are closed once when two operators close them concurrently", async () => {
  const paymentId = await captured("mco_suspense", "pi_suspense");
  const id = newId("suspense");
  const owner = { merchantId: "mer_test", environment: Environment.SANDBOX };
  const where = { connector: "simulator", connectorAccountId: "mco_suspense", connectorRef: "pi_second" };
  const charge = { kind: "second_charge", currency: "EUR", refundId: "" } as const;
  await db.transaction((tx) => insertFunds(tx, { id, paymentId, ...owner, ...where, ...charge }));
  const end = (resolution: "given_back" | "taken") =>
    db.transaction((tx) => closeFunds(tx, id, { resolution, operator: resolution, note: "" }));
  const ended = await Promise.all([end("given_back"), end("taken")]);
  assert.deepEqual(ended.sort(), [false, true]);
  const item = await findFunds(db, id);
  assert.equal(item?.resolution, item?.operator, "the first operator stays");
});

test.run();
