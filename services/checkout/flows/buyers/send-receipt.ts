// Sends a buyer's receipt. Phases, each safe to rerun: 1 read the session · 2 ask merchant whether it sends receipts
// and payments for the captured or refunded amount · 3 pass them to merchant, which queues each mail once.
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Payment, Refund } from "#proto/payments/v1/payments_pb.ts";
import type { CheckoutContext } from "../../context.ts";
import { paymentIdOf } from "../../rules/session.ts";
import { findSession, type StoredSession } from "../../store/sessions.ts";

/** @param refundId absent: the payment was paid or captured */
export interface ReceiptTrigger {
  readonly sessionId: string;
  readonly refundId?: string;
}

/** Whether a merchant sends receipts; asked once per merchant and batch. */
export type ReceiptPolicy = (owner: { merchantId: string; environment: Environment }) => Promise<boolean>;

type ReceiptContext = Pick<CheckoutContext, "db" | "payments" | "receipts">;

/** @throws failures of other services; the event is then delivered again */
export async function sendReceipt(
  context: ReceiptContext,
  trigger: ReceiptTrigger,
  policy: ReceiptPolicy,
): Promise<void> {
  const { receipts } = context;
  const { sessionId, refundId = "" } = trigger;
  const session = isId("session", sessionId) ? await findSession(context.db, sessionId) : undefined;
  if (!receipts || !session || session.customerEmail === "") return;
  const { merchantId, environment } = session;
  if (!(await policy({ merchantId, environment }))) return;
  const { payment } = await context.payments.getPayment({
    merchantId,
    environment,
    paymentId: paymentIdOf(session.id),
  });
  if (!payment) throw new Failure("INTERNAL_ERROR", { cause: new Error("payments answered no payment") });
  const moved = refundId === "" ? captureOf(payment) : refundOf(payment.refunds, refundId);
  if (!moved) return;
  await receipts.queueReceipt({
    merchantId,
    environment,
    paymentId: payment.id,
    refundId,
    email: session.customerEmail,
    locale: session.locale,
    amount: moved.amount,
    currency: session.currency,
    at: timestampFromDate(moved.at),
    reference: session.orderReference || payment.id,
    description: session.description,
    lines: moved.lines ?? linesOf(session, moved.amount),
    cardBrand: payment.card?.brand ?? "",
    cardLast4: payment.card?.last4 ?? "",
  });
}

interface MoneyMove {
  readonly amount: bigint;
  readonly at: Date;
  /** Absent: the session's lines. */
  readonly lines?: Line[];
}

interface Line {
  readonly name: string;
  readonly quantity: number;
  readonly amount: bigint;
}

/** undefined: nothing is captured, or the debit was returned. */
function captureOf({ status, capturedAmount, capturedAt }: Payment): MoneyMove | undefined {
  if (status === "failed" || capturedAmount === 0n || !capturedAt) return undefined;
  return { amount: capturedAmount, at: timestampDate(capturedAt) };
}

const linesMax = 100;

/** The total of all refunds, with a line for each of several. undefined: this refund did not succeed. */
function refundOf(refunds: readonly Refund[], refundId: string): MoneyMove | undefined {
  const done = refunds.filter(({ status }) => status === "succeeded");
  const refund = done.find(({ id }) => id === refundId);
  if (!refund?.createdAt) return undefined;
  const total = done.reduce((sum, { amount }) => sum + amount, 0n);
  const isListed = done.length > 1 && done.length <= linesMax;
  const lines = isListed ? done.map(({ id, amount }) => ({ name: id, quantity: 1, amount })) : [];
  return { amount: total, at: timestampDate(refund.createdAt), lines };
}

/** Empty if the session's lines do not add up to the captured amount. */
function linesOf({ lineItems, amount }: StoredSession, captured: bigint): Line[] {
  if (captured !== amount) return [];
  return lineItems.map(({ name, quantity, amount: sum }) => ({ name, quantity, amount: sum }));
}
