// Sends a buyer's receipt after an event, or when the buyer or the shop's staff asks. Phases, each safe to rerun:
// 1 read the session · 2 ask merchant whether it sends receipts, and payments for the captured or refunded amount ·
// 3 pass them to merchant, which queues each mail once.
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
  { sessionId, refundId = "" }: ReceiptTrigger,
  policy: ReceiptPolicy,
): Promise<void> {
  const session = isId("session", sessionId) ? await findSession(context.db, sessionId) : undefined;
  if (!context.receipts || !session || session.customerEmail === "") return;
  const { merchantId, environment } = session;
  if (await policy({ merchantId, environment })) await queueReceipt(context, session, { refundId });
}

/**
 * Sends the receipt that the buyer asks for on the receipt page, or the shop's staff in the console.
 * @param requestKey of the staff's form, which sends another mail @returns false if it cannot be sent now
 */
export async function sendAskedReceipt(
  context: ReceiptContext,
  session: StoredSession,
  requestKey = "",
): Promise<boolean> {
  return session.customerEmail !== "" && (await queueReceipt(context, session, { isAsked: true, requestKey }));
}

/** @param refundId absent: the receipt of the payment @returns false if nothing was queued */
async function queueReceipt(
  { payments, receipts }: Pick<ReceiptContext, "payments" | "receipts">,
  session: StoredSession,
  { refundId = "", ...request }: { refundId?: string; isAsked?: boolean; requestKey?: string },
): Promise<boolean> {
  const payment = await paymentOf({ payments }, session);
  const moved = refundId === "" ? captureOf(payment) : refundOf(payment.refunds, refundId);
  if (!receipts || !moved) return false;
  const { queued } = await receipts.queueReceipt({
    merchantId: session.merchantId,
    environment: session.environment,
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
    paymentMethod: payment.method?.type ?? "",
    wallet: payment.method?.wallet ?? "",
    bankLast4: payment.method?.bankLast4 ?? "",
    refundFailed: moved.hasFailed === true,
    ...request,
  });
  return queued;
}

/** The session's payment. @throws Failure of payments */
export async function paymentOf(
  { payments }: Pick<CheckoutContext, "payments">,
  { id, merchantId, environment }: StoredSession,
): Promise<Payment> {
  const { payment } = await payments.getPayment({ merchantId, environment, paymentId: paymentIdOf(id) });
  if (!payment) throw new Failure("INTERNAL_ERROR", { cause: new Error("payments answered no payment") });
  return payment;
}

interface MoneyMove {
  readonly amount: bigint;
  readonly at: Date;
  /** Absent: the session's lines. */
  readonly lines?: Line[];
  readonly hasFailed?: true;
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

/** The failed refund, or the total of all, with a line for each of several. undefined: this refund is under way. */
function refundOf(refunds: readonly Refund[], refundId: string): MoneyMove | undefined {
  const failed = refunds.find(({ id, status }) => id === refundId && status === "failed");
  if (failed?.createdAt) {
    return { amount: failed.amount, at: timestampDate(failed.createdAt), lines: [], hasFailed: true };
  }
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
