// Sends a buyer's receipt after an event, or when the buyer asks. Phases, each safe to rerun: 1 read the session ·
// 2 ask merchant whether it sends receipts and payments for the captured or refunded amount · 3 pass them to merchant,
// which queues each mail once.
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
  if (await policy({ merchantId, environment })) await queueReceipt(context, session, refundId, false);
}

/** Sends the receipt that the buyer asks for on the receipt page. @returns false if it cannot be sent now */
export async function sendAskedReceipt(context: ReceiptContext, session: StoredSession): Promise<boolean> {
  return session.customerEmail !== "" && (await queueReceipt(context, session, "", true));
}

/** @param refundId empty: the receipt of the payment @returns false if nothing was queued */
async function queueReceipt(
  { payments, receipts }: Pick<ReceiptContext, "payments" | "receipts">,
  session: StoredSession,
  refundId: string,
  buyerAsks: boolean,
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
    buyerAsks,
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
