// An operator ends unexpected funds: refunds them, accepts them as the payment's own, or closes the row.
// rules/unexpected-funds.ts decides under the payment's lock which action is allowed; the row and the audit log keep
// the operator and the note.
import type { Tx } from "#platform/database/database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { invalidField, requireFound } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type { IntentReport, ProcessorAnswer } from "../../connectors/connector.ts";
import { openingMovements } from "../../rules/refund.ts";
import { actionsOf, closingMovements, type FundsAction, heldIn } from "../../rules/unexpected-funds.ts";
import { appendMovements } from "../../store/journal.ts";
import { findOperation, type Operation, openOperation } from "../../store/operations.ts";
import { replaceIntent } from "../../store/payments.ts";
import { findRefund, saveRefund } from "../../store/refunds/refunds.ts";
import { beginRefund, closeFunds, findFunds, type StoredFunds } from "../../store/suspense.ts";
import { provenValue } from "../accounts/ask-processor.ts";
import { lockBooks, settleLocked, settleNeverMade } from "../settle-payment.ts";
import { settleReport, type VerifyDeps } from "../verify-intent.ts";
import { refundFunds } from "./refund-funds.ts";

interface FundsDecision {
  readonly suspenseId: string;
  readonly action: FundsAction;
  readonly operator: string;
  readonly note: string;
}

/**
 * @returns the row after it. @throws Failure NOT_FOUND, INVALID_BODY (not open, or not allowed for it),
 * CONNECTOR_ERROR.
 */
export async function resolveFunds(deps: VerifyDeps, decision: FundsDecision): Promise<StoredFunds> {
  const funds = requireFound(await findFunds(deps.db, decision.suspenseId));
  assertAllowed(funds, decision.action);
  if (decision.action === "refund") {
    const operation = await beginFundsRefund(deps, funds, decision);
    await refundFunds(deps, funds.id, operation);
  } else if (decision.action === "accept") {
    await (funds.kind === "second_refund" ? acceptRefund(deps, funds, decision) : acceptCharge(deps, funds, decision));
  } else await close(deps, funds, decision);
  deps.outbox.wake();
  const after = await findFunds(deps.db, funds.id);
  if (!after) throw new Error("unexpected funds without their row");
  return after;
}

function assertAllowed(funds: StoredFunds, action: FundsAction): void {
  const allowed = actionsOf(funds, funds.payment);
  if (allowed.includes(action)) return;
  if (funds.state === "refunding") throw invalidField("action", "is refused: a refund is under way");
  if (funds.state !== "open") throw invalidField("action", "is refused: the row is closed");
  throw invalidField("action", `must be one of ${allowed.join(", ")}`);
}

/** Locks the row's payment and records the decision for the audit log. @throws Failure INVALID_BODY. */
async function lockedFunds(tx: Tx, deps: VerifyDeps, { id, paymentId }: StoredFunds, decision: FundsDecision) {
  const books = await lockBooks(tx, paymentId);
  const funds = requireFound(await findFunds(tx, id));
  assertAllowed(funds, decision.action);
  const { merchantId, environment } = funds;
  const attributes = { action: decision.action, operator: decision.operator, payment_id: paymentId };
  const type = "operation.suspense_resolved";
  await deps.outbox.append(tx, [
    { type, merchantId, environment, objectId: id, status: decision.action, at: clockNow(), attributes },
  ]);
  return { books, funds };
}

/** Stores the operation before the refund is sent. */
async function beginFundsRefund(deps: VerifyDeps, funds: StoredFunds, decision: FundsDecision): Promise<Operation> {
  const sentAfter = deps.connectors.get(funds.connector).processorTime();
  return await deps.db.transaction(async (tx) => {
    await lockedFunds(tx, deps, funds, decision);
    const before = await findOperation(tx, "give_back", funds.id);
    const fresh = { id: newId("operation"), paymentId: funds.paymentId, reference: funds.id, sentAfter };
    const operation = await openOperation(tx, "give_back", fresh, deps.reconcileAfterSeconds);
    await beginRefund(tx, funds.id, decision);
    // A done operation gets a new key, under which nothing was sent yet.
    return { ...operation, tried: before !== undefined && before.state !== "done" };
  });
}

/** The merchant bears a second refund like a requested one. */
async function acceptRefund(deps: VerifyDeps, row: StoredFunds, decision: FundsDecision): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const { books, funds } = await lockedFunds(tx, deps, row, decision);
    const refund = await findRefund(tx, funds.refundId);
    if (!refund) throw new Error("a second refund's row without its refund");
    const accepted = { ...refund, unasked: false };
    await saveRefund(tx, accepted);
    const released = { kind: "suspense_refund_released", cause: refund.id, amount: refund.amount } as const;
    await appendMovements(tx, books.payment, [released, ...openingMovements(accepted)]);
    await closeFunds(tx, funds.id, { ...decision, resolution: "taken" });
  });
}

/** A second charge of the ordered amount becomes the payment's own intent. */
async function acceptCharge(deps: VerifyDeps, row: StoredFunds, decision: FundsDecision): Promise<void> {
  const report = provenValue(await askAbout(deps, row));
  await deps.db.transaction(async (tx) => {
    const { books, funds } = await lockedFunds(tx, deps, row, decision);
    const released = { kind: "suspense_released", cause: funds.id, amount: heldIn(funds) } as const;
    await appendMovements(tx, { ...books.payment, currency: funds.currency }, [released]);
    await closeFunds(tx, funds.id, { ...decision, resolution: "taken" });
    await replaceIntent(tx, funds.paymentId, funds.connectorRef);
    await settleLocked(tx, deps, await lockBooks(tx, funds.paymentId), report, "reconcile");
  });
}

/** Closing ends an unpaid payment. An intent that the processor knows again is settled instead. */
async function close(deps: VerifyDeps, row: StoredFunds, decision: FundsDecision): Promise<void> {
  if (row.kind === "lost_intent") {
    const answer = await askAbout(deps, row);
    if (answer.kind !== "not_found") {
      await settleReport(deps, row.paymentId, provenValue(answer), "reconcile");
      return;
    }
  }
  await deps.db.transaction(async (tx) => {
    const { books, funds } = await lockedFunds(tx, deps, row, decision);
    await appendMovements(tx, { ...books.payment, currency: funds.currency }, closingMovements(funds));
    await closeFunds(tx, funds.id, { ...decision, resolution: "closed", moved: heldIn(funds) });
    if (funds.kind === "lost_intent" || funds.kind === "other_amount") await settleNeverMade(tx, deps, books);
  });
}

async function askAbout(
  deps: VerifyDeps,
  { connector, connectorAccountId, connectorRef }: StoredFunds,
): Promise<ProcessorAnswer<IntentReport>> {
  const account = await deps.accounts.byId(connectorAccountId);
  return await deps.connectors.get(connector).retrieveIntent(account, connectorRef);
}
