// Gives back at the processor what nobody asked for. Phases, each one transaction or one network call, each safe to run
// again: 1 read, and write the operation · 2 refund what is left, once · 3 ask what the intent holds now · 4 settle.
// Used by the operator's call and by the reconcile job; the item is closed by the processor's word alone. A try that
// made a refund, was declined or surely made nothing is over: the next one has a key and a name of its own.
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { type Connector, type IntentReport, isKnown, type ProcessorAccount } from "../../connectors/connector.ts";
import { itemNamed, nameOfTry, ownCapture } from "../../rules/part-report.ts";
import { heldBeside } from "../../rules/suspense.ts";
import { beginNextTry, closeOperation, findOperation, type Operation, openOperation } from "../../store/operations.ts";
import { findPayment } from "../../store/payments.ts";
import { findSuspense, type StoredSuspense } from "../../store/suspense.ts";
import { provenValue } from "../accounts/ask-processor.ts";
import { makeRefund } from "../make-at-processor.ts";
import { lockedBooks, settleLocked, settleNeverMade } from "../settle-payment.ts";
import type { VerifyDeps } from "../verify-intent.ts";

/** The operator's call. @throws Failure NOT_FOUND, CONNECTOR_ERROR. */
export async function giveBack(deps: VerifyDeps, item: StoredSuspense): Promise<void> {
  const connector = deps.connectors.get(item.connector);
  const operation = await openOperation(
    deps.db,
    "give_back",
    { id: newId("operation"), paymentId: item.paymentId, reference: item.id, sentAfter: connector.processorTime() },
    deps.reconcileAfterSeconds,
  );
  await driveReturn(deps, item, operation);
}

/** The reconcile job's. @returns what was answered, for the history. */
export async function driveGiveBack(deps: VerifyDeps, suspenseId: string): Promise<string> {
  const item = await findSuspense(deps.db, suspenseId);
  const operation = await findOperation(deps.db, "give_back", suspenseId);
  if (!item || !operation) throw new Failure("NOT_FOUND");
  if (item.resolution === "taken") {
    await closeOperation(deps.db, "give_back", suspenseId);
    return "the item was taken";
  }
  return await driveReturn(deps, item, operation);
}

/** The answer to a look is believed whatever was known before. */
const nothingKnown = { amount: 0n, returned: 0n, kept: 0n, paidBy: "" } as const;

async function driveReturn(deps: VerifyDeps, item: StoredSuspense, operation: Operation): Promise<string> {
  const account = await deps.accounts.byId(item.connectorAccountId);
  const connector = deps.connectors.get(item.connector);
  const before = await holdingNow(deps, connector, account, item);
  const made = before.left > 0n ? await refundRest(deps, connector, account, item, operation, before) : "nothing left";
  const { report } = await holdingNow(deps, connector, account, item);
  const left = await settleItem(deps, item, report);
  if (left === 0n) await closeOperation(deps.db, "give_back", item.id);
  return made;
}

interface HoldingNow {
  readonly report: IntentReport;
  /** Minor units. */
  readonly left: bigint;
}

/** What is there and not on its way back; what the payment itself has captured is not the item's to give. */
async function holdingNow(
  deps: VerifyDeps,
  connector: Connector,
  account: ProcessorAccount,
  item: StoredSuspense,
): Promise<HoldingNow> {
  const report = provenValue(await connector.retrieveIntent(account, item.connectorRef));
  const payment = await findPayment(deps.db, item.paymentId);
  if (!payment) throw new Failure("NOT_FOUND");
  const { amount, returned, kept } = heldBeside(ownCapture(payment, report), report, { ...item, ...nothingKnown });
  const isItems = ({ reference }: { readonly reference: string }) => kept === 0n || itemNamed(reference) === item.id;
  const pending = report.refunds.filter((refund) => refund.status === "pending" && isItems(refund));
  const left = amount - returned - pending.reduce((sum, refund) => sum + refund.amount, 0n);
  return { report, left: left > 0n ? left : 0n };
}

async function refundRest(
  deps: VerifyDeps,
  connector: Connector,
  account: ProcessorAccount,
  item: StoredSuspense,
  operation: Operation,
  holding: HoldingNow,
): Promise<string> {
  const { id, connectorRef, currency } = item;
  const { report, left: amount } = holding;
  const isOver = report.refunds.some(({ reference }) => reference === nameOfTry(id, operation.generation));
  const current = isOver ? await beginNextTry(deps.db, operation) : operation;
  const reference = nameOfTry(id, current.generation);
  const order = { intentRef: connectorRef, reference, amount, currency, reason: "duplicate" };
  const made = await makeRefund(deps.db, connector, account, order, current);
  if (isKnown(made) || made.kind === "unknown") return made.kind;
  const next = await beginNextTry(deps.db, current);
  // Sent in this run: by the next one the new key may be too old to be sent with.
  if (made.kind === "never_made") return await refundRest(deps, connector, account, item, next, holding);
  const cause = made.kind === "declined" ? new Error(made.message) : made.cause;
  throw new Failure("CONNECTOR_ERROR", { cause });
}

/** @returns minor units that are still there; an own payment whose intent was given back is over. */
async function settleItem(deps: VerifyDeps, item: StoredSuspense, report: IntentReport): Promise<bigint> {
  const left = await deps.db.transaction(async (tx) => {
    const books = await lockedBooks(tx, item.paymentId);
    const { payment } = await settleLocked(tx, deps, books, report, "reconcile");
    const now = await findSuspense(tx, item.id);
    const rest = now?.state === "open" ? now.amount - now.returned : 0n;
    const isOver = rest === 0n && item.kind === "other_amount" && payment.state.outcome !== "succeeded";
    if (isOver) await settleNeverMade(tx, deps, { ...books, payment });
    return rest;
  });
  deps.outbox.wake();
  return left;
}
