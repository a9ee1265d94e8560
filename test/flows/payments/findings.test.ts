// Findings about money: each stays open, and its alert rings, until a later check agrees or an operator explains it.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { register } from "prom-client";
import { connectPeer } from "#platform/rpc/client.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { StatementService } from "#proto/payments/v1/statement_pb.ts";
import { matchStatement } from "../../../services/payments/flows/match-statement.ts";
import { checkNextStretch } from "../../../services/payments/jobs/check-journal.ts";
import { reconcileJobs } from "../../../services/payments/jobs/reconcile.ts";
import { moneyAlertKinds } from "../../../services/payments/metrics.ts";
import { journalFindings, recordDifferences } from "../../../services/payments/store/processor/statements.ts";
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { paymentsDeps } from "./deps.ts";

const test = suite("findings about money", { timeoutMs: 30_000 });

const services = fixture(test, () => startMoneyServices());
const deps = fixture(test, () => paymentsDeps(services, 30));
const money = fixture(test, () => merchantMoney(services, deps.db));
const peer = fixture(test, () => connectPeer({ url: services.urls.payments, token: services.settings.RPC_TOKEN }));
// Seals nothing here.
const vault = new Vault(new Map([["k1", randomBytes(32)]]));
const statements = fixture(test, () => peer.client(StatementService));

/** The alert's gauge after the job has counted: the open findings of each kind. */
async function openKinds(): Promise<Record<string, number>> {
  const job = reconcileJobs({ ...deps, vault }).find(({ name }) => name === "count-parked-operations");
  await job?.runOnce();
  const metric = await register.getSingleMetric("tollbooth_money_findings_open")?.get();
  const found = metric?.values ?? [];
  assert.deepEqual(found.map(({ labels }) => labels.kind).sort(), [...moneyAlertKinds].sort());
  return Object.fromEntries(found.filter(({ value }) => value > 0).map(({ labels, value }) => [labels.kind, value]));
}

/** A whole pass over the journal, by this process or by a job of the services. */
async function checkBooks(): Promise<void> {
  await deps.db.rows("update journal_check set after_id = '', due_at = now()");
  await checkNextStretch({ ...deps, findings: journalFindings(deps.db) });
}

const rowsAbout = async (paymentId: string) =>
  (await statements.listStatementDifferences({ limit: 200, includeResolved: true })).differences.filter(
    (each) => each.paymentId === paymentId,
  );

test("a payment that differs from its journal is open in every pass until the books agree, as one row", async () => {
  const id = await money.paid();
  await deps.db.rows("update payments set fee_amount = fee_amount + 1 where id = $1", [id]);
  for (let pass = 1; pass <= 2; pass++) {
    await checkBooks();
    assert.deepEqual(await openKinds(), { journal_difference: 1 }, `pass ${pass}`);
  }
  assert.match((await rowsAbout(id)).map(({ ours }) => ours).join(), /^fee is \d+, expected \d+$/);
  await deps.db.rows("update payments set fee_amount = fee_amount - 1 where id = $1", [id]);
  await checkBooks();
  assert.deepEqual(await openKinds(), {});
  assert.equal((await rowsAbout(id)).length, 1);
});

test("what an operator explains stays closed while it is found unchanged, and opens again when it changes", async () => {
  const id = await money.paid();
  const [row] = await deps.db.rows<{ account: string }>(
    "update payments set currency = 'USD' where id = $1 returning connector_account_id as account",
    [id],
  );
  const account = await deps.accounts.byId(row?.account ?? "");
  const [from, to] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 60_000)];
  await matchStatement(deps, account, { from, to });
  assert.deepEqual(await openKinds(), { intent_mismatch: 1, other_amount: 1, statement_difference: 1 });
  const mismatch = async () => (await rowsAbout(id)).find(({ kind }) => kind === "intent_mismatch");
  const decision = { id: (await mismatch())?.id ?? 0n, operator: "ada@example.com", note: "changed by this test" };
  const { difference } = await statements.explainStatementDifference(decision);
  assert.deepEqual([difference?.explainedBy, difference?.note], [decision.operator, decision.note]);
  await assert.rejects(statements.explainStatementDifference(decision), isRefusal("NOT_FOUND"));

  await matchStatement(deps, account, { from, to });
  assert.equal((await openKinds()).intent_mismatch, undefined, "found again, unchanged");
  const found = { object: "payment", ref: id, paymentId: id, kind: "intent_mismatch", ours: "" } as const;
  await recordDifferences(deps.db, account.id, [{ ...found, theirs: "reference" }]);
  assert.equal((await openKinds()).intent_mismatch, 1, "another field differs now");
  assert.deepEqual([(await mismatch())?.explainedBy, (await mismatch())?.note], ["", ""]);
});

test.run();
