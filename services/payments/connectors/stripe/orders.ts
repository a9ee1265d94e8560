// Our orders as the parameters of Stripe's requests.
import type Stripe from "stripe";
import type { IntentOrder, PaymentOrder, RefundOrder } from "../connector.ts";
import { metadataNames } from "./objects.ts";

type PaymentIntentOrder = Pick<IntentOrder, "reference" | "currency" | "description" | "captureMethod">;

/** @param amount in Stripe's writing. */
export function intentParams(order: PaymentIntentOrder, amount: number): Stripe.PaymentIntentCreateParams {
  return {
    amount,
    currency: order.currency.toLowerCase(),
    capture_method: order.captureMethod,
    // Which methods are shown is chosen in Stripe's dashboard; cards and wallets are on from the start.
    automatic_payment_methods: { enabled: true },
    metadata: { [metadataNames.payment]: order.reference },
    ...(order.description === "" ? {} : { description: order.description }),
  };
}

/** Paid at once, without the buyer: a card that asks for its buyer is declined. @param amount in Stripe's writing. */
export function paymentParams(order: PaymentOrder, amount: number): Stripe.PaymentIntentCreateParams {
  return {
    ...intentParams(order, amount),
    automatic_payment_methods: { enabled: true, allow_redirects: "never" },
    payment_method: order.paymentMethod,
    confirm: true,
    error_on_requires_action: true,
  };
}

/** Stripe's own page. Its PaymentIntent comes into being when the buyer pays, and carries our metadata then. */
export function pageParams(order: IntentOrder, amount: number): Stripe.Checkout.SessionCreateParams {
  const metadata = { [metadataNames.payment]: order.reference };
  return {
    mode: "payment",
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: order.currency.toLowerCase(),
          unit_amount: amount,
          product_data: { name: order.description === "" ? "Payment" : order.description },
        },
      },
    ],
    // What is paid is what was asked for, in its currency.
    adaptive_pricing: { enabled: false },
    client_reference_id: order.reference,
    metadata,
    payment_intent_data: {
      capture_method: order.captureMethod,
      metadata: { ...metadata, [metadataNames.page]: "checkout" },
      ...(order.description === "" ? {} : { description: order.description }),
    },
    success_url: order.returnUrl,
    cancel_url: order.returnUrl,
  };
}

/** @param intentId `pi_…`. @param amount in Stripe's writing. */
export function refundParams(order: RefundOrder, intentId: string, amount: number): Stripe.RefundCreateParams {
  const known = knownReasons.find((reason) => reason === order.reason);
  return {
    payment_intent: intentId,
    amount,
    metadata: { [metadataNames.refund]: order.reference },
    ...(known === undefined ? {} : { reason: known }),
  };
}

const knownReasons = ["duplicate", "fraudulent", "requested_by_customer"] as const;
