// An operator's refund of unexpected funds at the simulator: it returns once what is neither refunded nor pending.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import { provenValue } from "../../../services/payments/flows/accounts/ask-processor.ts";
import { refundFunds } from "../../../services/payments/flows/unexpected-funds/refund-funds.ts";
import { resolveFunds } from "../../../services/payments/flows/unexpected-funds/resolve-funds.ts";
import { settleReport } from "../../../services/payments/flows/verify-intent.ts";
import { findOperation } from "../../../services/payments/store/operations.ts";
import { fundsAbout, type StoredFunds } from "../../../services/payments/store/suspense.ts";
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { paymentsDeps } from "./deps.ts";

const test = suite("refunds of unexpected funds", { timeoutMs: 30_000 });

const services = fixture(test, () => startMoneyServices());
const deps = fixture(test, () => paymentsDeps(services, 3_600)); // beyond this test, so that the reconcile job changes nothing
const db = fixture(
  test,
  () => deps.db,
  () => {},
);

async function atProcessor(path: string, body: object): Promise<string> {
  const answer = await services.processor("POST", path, body);
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return String(membersOf(answer.body).id);
}

/** A second intent with a payment's reference, paid 1,000 and held. @param changed runs before payments settles it */
async function secondCharge(changed: (ref: string) => Promise<unknown> = async () => {}): Promise<StoredFunds> {
  const paymentId = await merchantMoney(services, db).created();
  const ref = await atProcessor("/api/intents", { amount: 1_000, currency: "EUR", reference: paymentId });
  await atProcessor(`/test/intents/${ref}/pay`, { card: "4242424242424242" });
  await changed(ref);
  await applyReport(paymentId, ref);
  return (await fundsAbout(db, "simulator", ref))[0] ?? assert.fail("no row");
}

async function applyReport(paymentId: string, ref: string): Promise<void> {
  const [row] = await db.rows<{ id: string }>("select connector_account_id as id from payments where id = $1", [
    paymentId,
  ]);
  const account = await deps.accounts.byId(row?.id ?? "");
  const report = provenValue(await deps.connectors.get("simulator").retrieveIntent(account, ref));
  await settleReport(deps, paymentId, report, "reconcile");
}

/** Refunds at the processor, and the states of the row and its operation. */
async function outcome(item: StoredFunds): Promise<readonly [refunds: string, item: string, operation: string]> {
  const { body } = await services.processor("GET", `/api/intents/${item.connectorRef}`);
  const refunds = [membersOf(body).refunds].flat().map(membersOf);
  const [now] = await fundsAbout(db, "simulator", item.connectorRef);
  const operation = await findOperation(db, "give_back", item.id);
  const made = refunds.map(({ amount, status }) => `${amount} ${status}`).join(", ");
  return [made, `${now?.state} ${now?.resolution}`.trim(), operation?.state ?? "none"];
}

const refund = (item: StoredFunds) =>
  resolveFunds(deps, { suspenseId: item.id, action: "refund", operator: "ann", note: "paid twice" });

test("a second charge is refunded in full once, and the processor's answer closes its row", async () => {
  const item = await secondCharge();
  await refund(item);
  await assert.rejects(refund(item), isRefusal("INVALID_BODY"));
  assert.deepEqual(await outcome(item), ["1000 succeeded", "closed given_back", "done"]);
});

test("a refund that fails after its success is made again under a new key", async () => {
  const item = await secondCharge();
  await refund(item);
  const { body } = await services.processor("GET", `/api/intents/${item.connectorRef}`);
  const [made] = [membersOf(body).refunds].flat().map(membersOf);
  await atProcessor(`/test/refunds/${String(made?.id)}`, { status: "failed" });
  await applyReport(item.paymentId, item.connectorRef);
  assert.deepEqual(await outcome(item), ["1000 failed", "open", "done"]);
  await refund(item);
  assert.deepEqual(await outcome(item), ["1000 failed, 1000 succeeded", "closed given_back", "done"]);
});

test("a refund that the processor declines leaves the row to the operator, who may try again", async () => {
  let dispute = "";
  const item = await secondCharge(async (ref) => {
    dispute = await atProcessor(`/test/intents/${ref}/disputes`, { amount: 1_000 });
  });
  for (const _ of "twice") await assert.rejects(refund(item), isRefusal("CONNECTOR_ERROR"));
  assert.deepEqual(await outcome(item), ["", "open", "done"]);
  await atProcessor(`/test/disputes/${dispute}`, { status: "won" });
  await refund(item);
  assert.deepEqual(await outcome(item), ["1000 succeeded", "closed given_back", "done"]);
});

test("of several operators acting at once one succeeds", async () => {
  const item = await secondCharge();
  const decide = (action: "refund" | "close") =>
    resolveFunds(deps, { suspenseId: item.id, action, operator: "ann", note: "at once" });
  const all = await Promise.allSettled([decide("refund"), decide("refund"), decide("close"), decide("close")]);
  assert.equal(all.filter(({ status }) => status === "fulfilled").length, 1);
  await refundFunds(deps, item.id).catch(() => {});
  const [refunds, state] = await outcome(item);
  assert.ok(
    ["1000 succeeded|closed given_back", "|closed closed"].includes(`${refunds}|${state}`),
    `${refunds} ${state}`,
  );
});

test.run();
