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
export type Wanted = (owner: { merchantId: string; environment: Environment }) => Promise<boolean>;

type ReceiptContext = Pick<CheckoutContext, "db" | "payments" | "receipts">;

/** @throws what another service could not answer; the news is then told again. */
export async function sendReceipt(context: ReceiptContext, news: Receiptable, wanted: Wanted): Promise<void> {
  const { receipts } = context;
  const { sessionId, refundId = "" } = news;
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
  // Lines of another sum than what was taken would contradict it.
  const isWhole = refundId === "" && moved.amount === session.amount;
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
    lines: isWhole ? linesOf(session) : [],
    cardBrand: payment.card?.brand ?? "",
    cardLast4: payment.card?.last4 ?? "",
  });
}

/** undefined: nothing is taken yet, or it came back since. */
function captureOf({ status, capturedAmount, capturedAt }: Payment) {
  if (status === "failed" || capturedAmount === 0n || !capturedAt) return undefined;
  return { amount: capturedAmount, at: timestampDate(capturedAt) };
}

/** undefined: it has not succeeded, or failed since. */
function refundOf(refunds: readonly Refund[], refundId: string) {
  const refund = refunds.find(({ id }) => id === refundId);
  if (refund?.status !== "succeeded" || !refund.createdAt) return undefined;
  return { amount: refund.amount, at: timestampDate(refund.createdAt) };
}

function linesOf({ lineItems }: StoredSession) {
  return lineItems.map(({ name, quantity, amount }) => ({ name, quantity, amount }));
}
