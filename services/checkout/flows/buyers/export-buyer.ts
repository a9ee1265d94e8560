// Reads a buyer's personal data for their merchant. Reads only; payments asks no processor.
import type { Payment } from "#proto/payments/v1/payments_pb.ts";
import type { BuyerKey } from "../../store/erasures.ts";
import type { Owner } from "../../store/session-lists.ts";
import { findSessions, type StoredSession } from "../../store/sessions.ts";
import { checkBuyer, findBuyer, type PrivacyContext } from "./find-buyer.ts";

interface BuyerExport {
  readonly sessions: readonly StoredSession[];
  readonly payments: readonly Payment[];
  readonly hasMore: boolean;
}

// proto/payments/v1/payments.proto, BatchGetPaymentsRequest
const readMax = 100;

/** @throws Failure NOT_FOUND, INVALID_BODY. */
export async function exportBuyer(context: PrivacyContext, buyer: Owner & BuyerKey): Promise<BuyerExport> {
  await checkBuyer(context, buyer);
  const { sessionIds, paymentIds, hasMore } = await findBuyer(context, buyer);
  const sessions = await findSessions(context.db, sessionIds);
  const payments: Payment[] = [];
  for (let from = 0; from < paymentIds.length; from += readMax) {
    const answer = await context.payments.batchGetPayments({ paymentIds: paymentIds.slice(from, from + readMax) });
    payments.push(...answer.payments);
  }
  return { sessions: sessions.filter((session) => session !== undefined), payments, hasMore };
}
