// Has a buyer's receipt sent. Phases: 1 read the session · 2 ask merchant whether it sends receipts, and payments what
// was taken or given back · 3 hand the facts to merchant, which queues each mail once. Every step is safe to run again,
// and none of it touches the payment.
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Payment, Refund } from "#proto/payments/v1/payments_pb.ts";
import type { CheckoutContext } from "../../context.ts";
import { paymentIdOf } from "../../rules/session.ts";
import { findSession, type StoredSession } from "../../store/sessions.ts";

/** What has happened to a session's payment. @param refundId it was given back; absent: it was paid or captured */
export interface Receiptable {
  readonly sessionId: string;
  readonly refundId?: string;
}

/** Whether a merchant sends receipts, asked about once for each in a batch of news. */
export type ReceiptPolicy = (owner: { merchantId: string; environment: Environment }) => Promise<boolean>;

type ReceiptContext = Pick<CheckoutContext, "db" | "payments" | "receipts">;

/** @throws what another service could not answer; the news is then told again. */
export async function sendReceipt(context: ReceiptContext, trigger: Receiptable, wanted: ReceiptPolicy): Promise<void> {
  const { receipts } = context;
  const { sessionId, refundId = "" } = trigger;
  const session = isId("session", sessionId) ? await findSession(context.db, sessionId) : undefined;
  if (!receipts || !session || session.customerEmail === "") return;
  const { merchantId, environment } = session;
  if (!(await wanted({ merchantId, environment }))) return;
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
  /** Absent: those of the session. */
  readonly lines?: Line[];
}

interface Line {
  readonly name: string;
  readonly quantity: number;
  readonly amount: bigint;
}

/** undefined: nothing is taken yet, or it came back since. */
function captureOf({ status, capturedAmount, capturedAt }: Payment): MoneyMove | undefined {
  if (status === "failed" || capturedAmount === 0n || !capturedAt) return undefined;
  return { amount: capturedAmount, at: timestampDate(capturedAt) };
}

const linesMax = 100;

/**
 * All that was given back: a mail tells the total, and of several refunds each. undefined: this one did not
 * succeed.
 */
function refundOf(refunds: readonly Refund[], refundId: string): MoneyMove | undefined {
  const done = refunds.filter(({ status }) => status === "succeeded");
  const refund = done.find(({ id }) => id === refundId);
  if (!refund?.createdAt) return undefined;
  const total = done.reduce((sum, { amount }) => sum + amount, 0n);
  const isListed = done.length > 1 && done.length <= linesMax;
  const lines = isListed ? done.map(({ id, amount }) => ({ name: id, quantity: 1, amount })) : [];
  return { amount: total, at: timestampDate(refund.createdAt), lines };
}

/** None where they add up to another amount than was taken. */
function linesOf({ lineItems, amount }: StoredSession, captured: bigint): Line[] {
  if (captured !== amount) return [];
  return lineItems.map(({ name, quantity, amount: sum }) => ({ name, quantity, amount: sum }));
}
