// Takes in what a processor did in a payment's name that nobody asked for: an intent with our reference beside ours or
// with another amount, a second refund, an intent that the processor lost. Each stands in the operators' list and,
// where money moved, in the journal, until the processor or a person ends it. Runs in the transaction of whoever heard
// of it, under the payment's lock. What is set aside is decided by rules/suspense.ts.
import type { Tx } from "#platform/database/database.ts";
import { newId } from "#platform/values/id.ts";
import type { OtherIntent, ReportedIntent } from "../../rules/part-report.ts";
import { counts } from "../../rules/refund.ts";
import { type ItemChange, processorEnds, type SuspenseKind, setAside } from "../../rules/suspense.ts";
import { appendMovements } from "../../store/journal.ts";
import { askAtOnce, type StoredPayment } from "../../store/payments.ts";
import type { StoredRefund } from "../../store/refunds/refunds.ts";
import { closeSuspense, reopenSuspense, saveSuspense, suspenseAbout, suspenseOf } from "../../store/suspense.ts";

/** What was taken in besides the payment. */
export interface Held {
  /** Kinds of what is held in suspense since now; each is an alert. */
  readonly held: readonly SuspenseKind[];
  /** What differs when the intent is not the one that we asked for: it is never finalized. */
  readonly mismatch: string | undefined;
  readonly ignored: readonly string[];
}

/**
 * Sets aside what of a report is not the payment's, and ends what stood in suspense and is.
 * @param payment with what of the report is its own.
 */
export async function setReportAside(
  tx: Tx,
  payment: StoredPayment,
  report: ReportedIntent,
  other: OtherIntent | undefined,
): Promise<Held> {
  const about = await suspenseAbout(tx, payment.connector, report.ref);
  const items = about.filter(({ paymentId }) => paymentId === payment.id);
  const { changes, ...told } = setAside(payment, report, other, items, () => newId("suspense"));
  const held: SuspenseKind[] = [];
  for (const change of changes) if (await writeChange(tx, payment, change)) held.push(change.kind);
  return { ...told, held };
}

/** @returns true when the item is new. */
async function writeChange(
  tx: Tx,
  payment: StoredPayment,
  { id, kind, connectorRef, currency, holding, movements, move }: ItemChange,
): Promise<boolean> {
  const item = { ...itemOf(payment, kind, connectorRef), id, currency };
  const isNew = holding ? await saveSuspense(tx, { ...item, ...holding }) : false;
  await appendMovements(tx, { ...payment, currency }, movements);
  if (move === "reopened") await reopenSuspense(tx, id, [...processorEnds, "closed", "gone"]);
  else if (move) await closeSuspense(tx, id, { resolution: move, operator: "", note: "" });
  // Reports overtake each other.
  if (kind === "other_amount" && move === "found") await askAtOnce(tx, payment.id);
  return isNew;
}

/** Lists second refunds for an operator; their money is booked with them. @returns the kinds that are new. */
export async function holdSecondRefunds(
  tx: Tx,
  payment: StoredPayment,
  refunds: readonly StoredRefund[],
): Promise<readonly SuspenseKind[]> {
  const held: SuspenseKind[] = [];
  for (const refund of refunds) {
    const known = await suspenseOf(tx, payment.connector, refund.connectorRef, "second_refund");
    const stands = counts(refund.status);
    const item = { ...itemOf(payment, "second_refund", refund.connectorRef), refundId: refund.id };
    const holding = { amount: refund.amount, returned: stands ? 0n : refund.amount };
    const id = known?.id ?? newId("suspense");
    if (await saveSuspense(tx, { ...item, id, ...holding })) held.push("second_refund");
    if (!stands) await closeSuspense(tx, id, { resolution: "given_back", operator: "", note: "" });
  }
  return held;
}

/** Lists an intent that the processor gave and knows nothing of. @returns false when it was listed before. */
export async function holdLostIntent(tx: Tx, payment: StoredPayment): Promise<boolean> {
  const known = await suspenseOf(tx, payment.connector, payment.connectorRef, "lost_intent");
  if (known) return await reopenSuspense(tx, known.id, processorEnds);
  const item = itemOf(payment, "lost_intent", payment.connectorRef);
  return await saveSuspense(tx, { ...item, id: newId("suspense"), amount: 0n, returned: 0n });
}

function itemOf(payment: StoredPayment, kind: SuspenseKind, connectorRef: string) {
  const { id: paymentId, merchantId, environment, connector, connectorAccountId, currency } = payment;
  return {
    kind,
    paymentId,
    refundId: "",
    merchantId,
    environment,
    connector,
    connectorAccountId,
    currency,
    connectorRef,
    paidBy: "",
    kept: 0n,
  };
}
