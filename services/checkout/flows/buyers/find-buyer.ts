// Finds a buyer's sessions and payments by e-mail or by a payment, for erasures and exports.
import type { Client } from "@connectrpc/connect";
import { Failure, invalidField } from "#platform/values/failure.ts";
import { type Id, isId } from "#platform/values/id.ts";
import type { BuyerDataService } from "#proto/payments/v1/privacy_pb.ts";
import type { CheckoutContext } from "../../context.ts";
import { paymentIdOf, sessionIdOf } from "../../rules/session.ts";
import { type BuyerKey, findBuyerSessions } from "../../store/erasures.ts";
import { findOwnSession, type Owner } from "../../store/session-lists.ts";

export interface PrivacyContext extends Pick<CheckoutContext, "db" | "outbox" | "log" | "keys" | "payments"> {
  readonly buyerData: Client<typeof BuyerDataService>;
  /** How long backups and sealed copies for recovery are kept. */
  readonly copiesDays: number;
}

interface FoundBuyer {
  readonly sessionIds: readonly Id<"session">[];
  /** Also of the sessions; erased ones are left out. */
  readonly paymentIds: readonly string[];
  readonly disputedIds: readonly string[];
  readonly hasMore: boolean;
}

const foundMax = 1_000;

/** @throws Failure NOT_FOUND: no such payment, INVALID_BODY: not exactly one of both */
export async function checkBuyer(context: PrivacyContext, buyer: Owner & BuyerKey): Promise<void> {
  const { merchantId, environment, customerEmail, paymentId } = buyer;
  if ((customerEmail === "") === (paymentId === ""))
    throw invalidField("customer_email", "must be given, or payment_id, and not both");
  if (paymentId === "") return;
  if (!isId("payment", paymentId)) throw new Failure("NOT_FOUND");
  if (await findOwnSession(context.db, buyer, sessionIdOf(paymentId))) return;
  await context.payments.getPayment({ merchantId, environment, paymentId });
}

/** The newest that are not erased. */
export async function findBuyer(
  { db, buyerData }: Pick<PrivacyContext, "db" | "buyerData">,
  buyer: Owner & BuyerKey,
): Promise<FoundBuyer> {
  const { merchantId, environment, customerEmail, paymentId } = buyer;
  const sessionIds = await findBuyerSessions(db, buyer, foundMax);
  const paymentIds = paymentId === "" ? sessionIds.map(paymentIdOf) : [paymentId];
  const found = await buyerData.findBuyerPayments({ merchantId, environment, customerEmail, paymentIds });
  return { ...found, sessionIds, hasMore: found.hasMore || sessionIds.length === foundMax };
}
