// Converts our orders to the parameters of Stripe's requests.
import type Stripe from "stripe";
import type { IntentOrder, OrderLine, PaymentOrder, RefundOrder } from "../order.ts";
import { toStripe } from "./amount.ts";
import { metadataNames } from "./objects.ts";

type PaymentIntentOrder = Pick<IntentOrder, "reference" | "currency" | "description" | "captureMethod" | "methods">;

/** @param amount in Stripe's units */
export function intentParams(order: PaymentIntentOrder, amount: number): Stripe.PaymentIntentCreateParams {
  return {
    amount,
    currency: order.currency.toLowerCase(),
    capture_method: order.captureMethod,
    automatic_payment_methods: { enabled: true },
    ...methodParams(order),
    metadata: { [metadataNames.payment]: order.reference },
    ...(order.description === "" ? {} : { description: order.description }),
  };
}

/** A filter on the methods that are enabled in Stripe's dashboard and fit the order. */
function methodParams({ methods }: Pick<IntentOrder, "methods">) {
  if (!methods) return {};
  return { allowed_payment_method_types: methods as Stripe.PaymentIntentCreateParams.AllowedPaymentMethodType[] };
}

/** Pays immediately; a card that requires the buyer is declined. @param amount in Stripe's units */
export function paymentParams(order: PaymentOrder, amount: number): Stripe.PaymentIntentCreateParams {
  return {
    ...intentParams(order, amount),
    automatic_payment_methods: { enabled: true, allow_redirects: "never" },
    payment_method: order.paymentMethod,
    confirm: true,
    error_on_requires_action: true,
  };
}

/** Stripe's own page. It makes its PaymentIntent, with our metadata, when the buyer pays. */
export function pageParams(order: IntentOrder, amount: number): Stripe.Checkout.SessionCreateParams {
  const metadata = {
    [metadataNames.payment]: order.reference,
    ...(order.renewal && { [metadataNames.renewal]: String(order.renewal) }),
  };
  return {
    mode: "payment",
    ...methodParams(order),
    line_items: pageLines(order, amount),
    // The buyer pays in the ordered currency.
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

type PageLine = Stripe.Checkout.SessionCreateParams.LineItem;

/** The merchant's lines, or one for all if Stripe's page cannot show each: it has no discounts. */
function pageLines({ currency, description, lineItems }: IntentOrder, amount: number): PageLine[] {
  const shown = lineItems.flatMap((line) => pageLine(line, currency) ?? []);
  if (shown.length > 0 && shown.length === lineItems.length) return shown;
  return [lineOf(description === "" ? "Payment" : description, 1, amount, currency)];
}

/** Stripe multiplies a unit price: a line that is not divisible becomes one piece. */
function pageLine({ name, quantity, amount }: OrderLine, currency: string): PageLine | undefined {
  const written = toStripe(amount, currency);
  if (typeof written !== "number" || written < 0) return undefined;
  return written % quantity === 0
    ? lineOf(name, quantity, written / quantity, currency)
    : lineOf(`${quantity} × ${name}`, 1, written, currency);
}

function lineOf(name: string, quantity: number, unitAmount: number, currency: string): PageLine {
  const price = { currency: currency.toLowerCase(), unit_amount: unitAmount, product_data: { name } };
  return { quantity, price_data: price };
}

/** @param intentId `pi_…`. @param amount in Stripe's units */
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
