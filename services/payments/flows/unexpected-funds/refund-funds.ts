// Refunds unexpected funds at the processor, once. Phases, each one transaction or one network call, each safe to
// rerun: 1 ask about the intent · 2 refund all that is left · 3 ask again · 4 settle. Run by the operator's call, then
// by the reconcile job until the processor has answered; only its report closes the row.
import { Failure } from "#platform/values/failure.ts";
import {
  type Connector,
  type IntentReport,
  isKnown,
  type ProcessorAccount,
  type ProcessorAnswer,
  type RefundReport,
} from "../../connectors/connector.ts";
import { isCounted } from "../../rules/refund.ts";
import { discrepancyOf } from "../../rules/settlement.ts";
import { fundsAfter } from "../../rules/unexpected-funds.ts";
import { bookedAtProcessor } from "../../store/journal.ts";
import { closeOperation, findOperation, type Operation } from "../../store/operations.ts";
import { endRefund, findFunds, type StoredFunds } from "../../store/suspense.ts";
import { provenValue } from "../accounts/ask-processor.ts";
import { makeRefund } from "../make-at-processor.ts";
import { lockBooks, settleLocked, settleNeverMade } from "../settle-payment.ts";
import type { VerifyDeps } from "../verify-intent.ts";

/**
 * @param begun the operation as just created; undefined: it is read. @returns the answer, for the history
 * @throws Failure NOT_FOUND, CONNECTOR_ERROR.
 */
export async function refundFunds(deps: VerifyDeps, id: string, begun?: Operation): Promise<string> {
  const funds = await findFunds(deps.db, id);
  const operation = begun ?? (await findOperation(deps.db, "give_back", id));
  if (!funds || !operation) throw new Failure("NOT_FOUND");
  if (funds.state !== "refunding") {
    await closeOperation(deps.db, "give_back", id);
    return `the row is ${funds.state}`;
  }
  const account = await deps.accounts.byId(funds.connectorAccountId);
  const connector = deps.connectors.get(funds.connector);
  const report = provenValue(await connector.retrieveIntent(account, funds.connectorRef));
  const amount = await refundableOf(deps, funds, report);
  if (amount > 0n) {
    const order = {
      intentRef: funds.connectorRef,
      reference: id,
      amount,
      currency: funds.currency,
      reason: "duplicate",
    };
    // The amount does not include earlier refunds.
    const known = new Set(report.refunds.map(({ ref }) => ref));
    const find = () => findFundsRefund(connector, account, order, known);
    const made = await makeRefund({ db: deps.db, connector, account, operation }, order, find);
    if (made.kind === "unknown") return made.kind;
    if (!isKnown(made))
      return await stopRefund(deps, id, made.kind === "declined" ? new Error(made.message) : made.cause);
  }
  await settleFunds(deps, funds, provenValue(await connector.retrieveIntent(account, funds.connectorRef)));
  return amount > 0n ? "refunded" : "nothing left to refund";
}

/** Minor units that are at the processor and in no pending refund. */
async function refundableOf(deps: VerifyDeps, row: StoredFunds, report: IntentReport): Promise<bigint> {
  const { payment, id } = row;
  const isOwn = report.ref === payment.connectorRef && report.currency === payment.currency;
  const booked = isOwn ? await bookedAtProcessor(deps.db, payment.id) : 0n;
  const discrepancy = discrepancyOf(payment, report);
  const now = fundsAfter({ payment, report, discrepancy, row, id, booked, isRefundOpen: true });
  const isRows = ({ reference }: RefundReport) => booked === 0n || reference === id;
  const pending = report.refunds.filter((refund) => refund.status === "pending" && isRows(refund));
  const left = now
    ? now.amount - now.returned - now.closed - pending.reduce((sum, { amount }) => sum + amount, 0n)
    : 0n;
  return left > 0n ? left : 0n;
}

/** No refund was made: the row is open again. */
async function stopRefund(deps: VerifyDeps, id: string, cause: unknown): Promise<never> {
  await deps.db.transaction(async (tx) => {
    const funds = await findFunds(tx, id);
    if (funds) await lockBooks(tx, funds.paymentId);
    await closeOperation(tx, "give_back", id);
    await endRefund(tx, id);
  });
  throw new Failure("CONNECTOR_ERROR", { cause });
}

/** A payment whose intent had another amount ends with the refund. */
async function settleFunds(
  deps: VerifyDeps,
  { id, kind, paymentId }: StoredFunds,
  report: IntentReport,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const books = await lockBooks(tx, paymentId);
    await closeOperation(tx, "give_back", id);
    const { payment } = await settleLocked(tx, deps, books, report, "reconcile");
    const now = await findFunds(tx, id);
    const isOver = now?.state === "closed" && kind === "other_amount" && payment.state.outcome !== "succeeded";
    if (isOver) await settleNeverMade(tx, deps, { ...books, payment });
  });
  deps.outbox.wake();
}

/** Searches a row's refund that is new and has not failed. */
export async function findFundsRefund(
  connector: Connector,
  account: ProcessorAccount,
  { intentRef, reference }: { readonly intentRef: string; readonly reference: string },
  known: ReadonlySet<string> = new Set(),
): Promise<ProcessorAnswer<RefundReport>> {
  const answer = await connector.retrieveIntent(account, intentRef);
  if (!isKnown(answer)) return answer.kind === "not_found" ? { kind: "unknown", cause: answer.cause } : answer;
  const refund = answer.value.refunds.find(
    (one) => one.reference === reference && isCounted(one.status) && !known.has(one.ref),
  );
  if (refund) return { kind: refund.status === "pending" ? "pending" : "succeeded", value: refund };
  return { kind: "not_found", at: connector.processorTime(), cause: new Error("the intent has no such refund") };
}
