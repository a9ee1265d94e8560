// Records unexpected funds in the transaction that settles their report, under the payment's lock. A row is in the
// operators' list, and in the journal if it holds money, until the processor or an operator ends it.
// rules/unexpected-funds.ts decides what it holds.
import type { Tx } from "#platform/database/database.ts";
import { newId } from "#platform/values/id.ts";
import type { Path } from "../../rules/payment.ts";
import { isCounted } from "../../rules/refund.ts";
import { type Discrepancy, type FundsKind, fundsAfter, type ReportedIntent } from "../../rules/unexpected-funds.ts";
import { appendMovements, bookedAtProcessor } from "../../store/journal.ts";
import { findOperation } from "../../store/operations.ts";
import type { StoredPayment } from "../../store/payments.ts";
import type { StoredRefund } from "../../store/refunds/refunds.ts";
import {
  checkFundsNow,
  closeFunds,
  fundsAbout,
  insertFunds,
  reopenLostIntent,
  type StoredFunds,
  updateFunds,
  updateSecondRefund,
} from "../../store/suspense.ts";

export interface RecordedFunds {
  /** Kinds of the rows that the report opened; each is an alert. */
  readonly opened: readonly FundsKind[];
  /** The field in which an intent differs from the order; such an intent never finalizes the payment. */
  readonly mismatch: string | undefined;
  readonly ignored: readonly string[];
}

/**
 * Updates the row of a reported intent. @param payment after the settlement of the report
 * @param path a processor's own reports can be reordered, so they open a row, and for a known row only schedule a check
 */
export async function recordFunds(
  tx: Tx,
  payment: StoredPayment,
  report: ReportedIntent,
  discrepancy: Discrepancy | undefined,
  path: Path,
): Promise<RecordedFunds> {
  const about = (await fundsAbout(tx, payment.connector, report.ref)).filter((row) => row.paymentId === payment.id);
  await endLostIntents(tx, about);
  const mismatch = discrepancy?.kind === "other_amount" ? discrepancy.field : undefined;
  const rows = about.filter(({ kind }) => kind !== "lost_intent" && kind !== "second_refund");
  const row = rows.find(({ state }) => state !== "closed") ?? rows[0];
  const known = { opened: [], mismatch, ignored: row ? [`intent ${report.ref}: unexpected funds ${row.id}`] : [] };
  if (row && row.currency !== report.currency) {
    return { ...known, ignored: [`${row.id} is in ${row.currency}, the report in ${report.currency}`] };
  }
  if (row && path === "processor") {
    await checkFundsNow(tx, row.id);
    return known;
  }
  const isOwn = report.ref === payment.connectorRef && report.currency === payment.currency;
  const id = row?.id ?? newId("suspense");
  const isRefundOpen = row?.state === "refunding" && (await findOperation(tx, "give_back", id))?.state !== "done";
  const booked = isOwn ? await bookedAtProcessor(tx, payment.id) : 0n;
  const update = fundsAfter({ payment, report, discrepancy, row, id, booked, isRefundOpen });
  if (!update) return known;
  const { currency, ref: connectorRef } = report;
  if (!row) await insertFunds(tx, { ...ownerOf(payment), id, kind: update.kind, connectorRef, currency, refundId: "" });
  await updateFunds(tx, id, update);
  await appendMovements(tx, { ...payment, currency }, update.movements);
  const isOpened = update.state !== "closed" && (row === undefined || row.state === "closed");
  return { mismatch, opened: isOpened ? [update.kind] : [], ignored: [`intent ${report.ref}: unexpected funds ${id}`] };
}

/** A reported intent is not lost. */
async function endLostIntents(tx: Tx, about: readonly StoredFunds[]): Promise<void> {
  for (const { id, kind } of about) {
    if (kind === "lost_intent") await closeFunds(tx, id, { resolution: "found", operator: "", note: "" });
  }
}

/** Lists second refunds for an operator; the settlement has booked them. @returns the kinds of new rows. */
export async function recordSecondRefunds(
  tx: Tx,
  payment: StoredPayment,
  refunds: readonly StoredRefund[],
): Promise<readonly FundsKind[]> {
  const opened: FundsKind[] = [];
  for (const { id: refundId, connectorRef, amount, status } of refunds) {
    const about = await fundsAbout(tx, payment.connector, connectorRef);
    const row = about.find(({ kind }) => kind === "second_refund");
    const id = row?.id ?? newId("suspense");
    const kind = "second_refund";
    if (!row)
      await insertFunds(tx, { ...ownerOf(payment), id, kind, connectorRef, currency: payment.currency, refundId });
    await updateSecondRefund(tx, id, amount, isCounted(status) ? 0n : amount);
    if (!row) opened.push(kind);
    if (!isCounted(status)) await closeFunds(tx, id, { resolution: "given_back", operator: "", note: "" });
  }
  return opened;
}

/** Lists an intent that the processor created and no longer knows. @returns false: it was listed before. */
export async function recordLostIntent(tx: Tx, payment: StoredPayment): Promise<boolean> {
  const about = await fundsAbout(tx, payment.connector, payment.connectorRef);
  const row = about.find(({ kind }) => kind === "lost_intent");
  if (row) return await reopenLostIntent(tx, row.id);
  const { connectorRef, currency } = payment;
  const id = newId("suspense");
  await insertFunds(tx, { ...ownerOf(payment), id, kind: "lost_intent", connectorRef, currency, refundId: "" });
  return true;
}

function ownerOf({ id: paymentId, merchantId, environment, connector, connectorAccountId }: StoredPayment) {
  return { paymentId, merchantId, environment, connector, connectorAccountId };
}
