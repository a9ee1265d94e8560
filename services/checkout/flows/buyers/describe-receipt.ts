// Reads a receipt by the token in its address, and sends it by mail. It opens a completed session only, and never shows
// the buyer's e-mail. Phases of both: 1 open the session · 2 ask payments · 3 (mail) pass it to merchant.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import type { DescribeReceiptResponseSchema } from "#proto/checkout/v1/checkout_pb.ts";
import type { CheckoutContext } from "../../context.ts";
import { toPageSession } from "../../messages.ts";
import type { StoredSession } from "../../store/sessions.ts";
import { openWithToken } from "./return-token.ts";
import { paymentOf, sendAskedReceipt } from "./send-receipt.ts";

type TokenContext = Pick<CheckoutContext, "db" | "hashKeys">;

/** @throws Failure NOT_FOUND, and failures of payments */
export async function describeReceipt(
  context: TokenContext & Pick<CheckoutContext, "payments">,
  sessionId: string,
  token: string,
): Promise<MessageInitShape<typeof DescribeReceiptResponseSchema>> {
  const session = await openCompleted(context, sessionId, token);
  const { status, capturedAmount, refundedAmount, capturedAt, authorizedAt, card, method } = await paymentOf(
    context,
    session,
  );
  const paidAt = capturedAt ?? authorizedAt ?? (session.completedAt && timestampFromDate(session.completedAt));
  return {
    session: { ...toPageSession(session), customerEmail: "" },
    payment: {
      ...{ status, capturedAmount, refundedAmount, cardBrand: card?.brand ?? "", cardLast4: card?.last4 ?? "" },
      ...{ paymentMethod: method?.type ?? "", wallet: method?.wallet ?? "", bankLast4: method?.bankLast4 ?? "" },
      ...(paidAt && { paidAt }),
    },
    hasEmail: session.customerEmail !== "",
  };
}

/** @returns false if it cannot be sent now @throws Failure NOT_FOUND, and failures of payments and merchant */
export async function mailReceipt(
  context: TokenContext & Pick<CheckoutContext, "payments" | "receipts">,
  sessionId: string,
  token: string,
): Promise<boolean> {
  return await sendAskedReceipt(context, await openCompleted(context, sessionId, token));
}

async function openCompleted(context: TokenContext, sessionId: string, token: string): Promise<StoredSession> {
  const session = await openWithToken(context, "receipt", sessionId, token);
  if (session.state.status !== "completed") throw new Failure("NOT_FOUND");
  return session;
}
