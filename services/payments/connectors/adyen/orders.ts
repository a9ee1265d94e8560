// Converts our orders to the bodies of Adyen's requests: https://docs.adyen.com/api-explorer/Checkout/72/overview
import type { ProcessorAccount } from "../connector.ts";
import type { IntentOrder, PaymentOrder } from "../order.ts";
import { writeReference } from "./intent.ts";

/** Amounts are Adyen's. */
interface AdyenAmount {
  readonly currency: string;
  readonly value: number;
}

/** A page at Adyen that takes one payment. */
export function linkBody(account: ProcessorAccount, order: IntentOrder, amount: AdyenAmount) {
  return {
    merchantAccount: account.externalAccountId,
    amount,
    reference: writeReference(order.reference, order.renewal),
    returnUrl: order.returnUrl,
    reusable: false,
    allowedPaymentMethods: ["scheme"],
    ...captureBody(order),
    ...(order.description === "" ? {} : { description: order.description }),
  };
}

/** Card fields of Adyen that take one payment. Without an end, Adyen's is in one hour. */
export function sessionBody(account: ProcessorAccount, order: IntentOrder, amount: AdyenAmount) {
  return {
    merchantAccount: account.externalAccountId,
    amount,
    reference: writeReference(order.reference, order.renewal),
    returnUrl: order.returnUrl,
    channel: "Web",
    countryCode: account.merchantCountry,
    allowedPaymentMethods: ["scheme"],
    // Inside the page it needs frames of all banks, which the page's policy cannot list.
    authenticationData: { threeDSRequestData: { nativeThreeDS: "disabled" } },
    ...captureData(order),
  };
}

/** A payment with a stored card, without its buyer. @param token `<shopperReference>/<storedPaymentMethodId>` */
export function paymentBody(account: ProcessorAccount, order: PaymentOrder, amount: AdyenAmount) {
  const [shopperReference = "", storedPaymentMethodId = ""] = order.paymentMethod.split("/");
  return {
    merchantAccount: account.externalAccountId,
    amount,
    reference: order.reference,
    // Required, though no buyer returns (RFC 2606 §3).
    returnUrl: "https://example.com/",
    paymentMethod: { type: "scheme", storedPaymentMethodId },
    shopperReference,
    shopperInteraction: "ContAuth",
    recurringProcessingModel: "UnscheduledCardOnFile",
    ...captureData(order),
  };
}

/** Also against the account's own delay of captures. */
function captureBody({ captureMethod }: Pick<IntentOrder, "captureMethod">) {
  return captureMethod === "manual" ? { manualCapture: true } : { captureDelayHours: 0 };
}

function captureData({ captureMethod }: Pick<IntentOrder, "captureMethod">) {
  return captureMethod === "manual" ? { additionalData: { manualCapture: "true" } } : { captureDelayHours: 0 };
}
