// Payments as public JSON: the full record and the list item (docs/contract.md §5).
import { type Static, Type } from "typebox";
import type {
  Card,
  ListedPayment,
  Payment,
  PaymentAttempt,
  PaymentMethod,
  PaymentRouting,
} from "#proto/payments/v1/payments_pb.ts";
import { DisputeJson, presentDispute } from "./dispute.ts";
import {
  amountSchema,
  archivedSchema,
  currencySchema,
  enumSchema,
  idSchema,
  jsonComponent,
  listValues,
  metadataSchema,
  numberOf,
  optionalField,
  optionalProperty,
  referenceSchema,
  textSchema,
  timeSchema,
} from "./field.ts";
import { presentMessage } from "./present.ts";
import { RefundJson } from "./refund.ts";

export const captureMethods = ["automatic", "manual"] as const;

export const captureMethodInput = enumSchema(
  captureMethods,
  "Default `automatic`. `manual`: the payment is authorized, and you capture the full amount or a part before `capture_before`.",
);

/** A service of the previous release sends no value, which means automatic. */
export function captureMethodOf(text: string): (typeof captureMethods)[number] {
  return text === "manual" ? "manual" : "automatic";
}

const statuses = [
  ...["pending", "requires_action", "processing", "succeeded", "failed", "canceled"],
  ...["partially_refunded", "refunded", "disputed"],
];
export const paymentStatusText = listValues(statuses);
const status = textSchema(paymentStatusText, "succeeded");

const requestedAmountSchema = amountSchema(
  "Requested amount, minor units; see `captured_amount` for the captured one.",
);
const capturedAmountSchema = amountSchema(
  "Captured amount, minor units. 0 for a `succeeded` payment that is authorized but not yet captured.",
);

const cardSummary = {
  brand: Type.Optional(textSchema("Card brand.", "visa")),
  last4: Type.Optional(textSchema("The last four digits.", "4242")),
  funding: Type.Optional(textSchema("`credit`, `debit` or `prepaid`.", "credit")),
};

const CardSummary = jsonComponent("CardSummary", Type.Object(cardSummary));

const CardJson = jsonComponent(
  "Card",
  Type.Object({
    ...cardSummary,
    fingerprint: Type.Optional(textSchema("Identifies the card number: equal for equal numbers.")),
    exp_month: Type.Integer({ examples: [12] }),
    exp_year: Type.Integer({ examples: [2030] }),
  }),
);

const MethodJson = jsonComponent(
  "PaymentMethod",
  Type.Object({
    type: textSchema(
      "`card`, `ideal`, `sepa_debit`, `bancontact`, `klarna`, `paypal` or another name; other methods have the processor's name.",
      "card",
    ),
    card: optionalProperty(CardSummary),
    bank: Type.Optional(
      Type.Object(
        {
          country: Type.Optional(textSchema("ISO 3166 country.", "DE")),
          last4: Type.Optional(textSchema("The last four characters of its number.", "3000")),
        },
        { description: "The buyer's bank account, if the processor reports it." },
      ),
    ),
    wallet: Type.Optional(textSchema("`apple_pay`, `google_pay` or another wallet that holds the card.", "apple_pay")),
  }),
);

const VerificationJson = jsonComponent(
  "Verification",
  Type.Object({
    avs_line1: Type.Optional(textSchema("`pass`, `fail`, `unavailable` or `unchecked`.", "pass")),
    avs_zip: Type.Optional(textSchema("Same values as avs_line1.", "pass")),
    cvc_check: Type.Optional(textSchema("Same values as avs_line1.", "pass")),
    three_ds_result: Type.Optional(textSchema("Result of 3-D Secure.", "authenticated")),
    three_ds_version: Type.Optional(textSchema("Version of 3-D Secure.", "2.2.0")),
    risk_level: Type.Optional(textSchema("`normal`, `elevated`, `highest` or `not_assessed`.", "normal")),
    risk_score: Type.Integer({ description: "0 to 100.", examples: [12] }),
  }),
);

const advices = ["retry_later", "use_another_card", "contact_issuer", "do_not_retry"];
const adviceText = `${listValues(advices)} \`retry_later\`: the same card may work later, or at once after a typing error; \`contact_issuer\`: the buyer should contact the bank.`;

// The catalogue of docs/contract.md §5.
const failureCodes = [
  ...["card_declined", "insufficient_funds", "expired_card", "incorrect_cvc", "incorrect_number", "processing_error"],
  ...["authentication_failed", "authentication_required", "blocked", "lost_or_stolen", "card_not_supported"],
  ...["currency_not_supported", "limit_exceeded", "duplicate", "canceled_by_buyer", "expired", "not_processed"],
  ...["returned", "unknown"],
];

/** Declines after which another processor may accept the same card. */
export const retriableCodes = [
  ...(["processing_error", "card_declined", "authentication_failed", "authentication_required"] as const),
  ...(["card_not_supported", "currency_not_supported", "limit_exceeded", "unknown"] as const),
];
const failureCode = `${listValues(failureCodes)} Further codes may be added.`;

const FailureJson = jsonComponent(
  "PaymentFailure",
  Type.Object({
    code: textSchema(failureCode, "insufficient_funds"),
    message: textSchema("The processor's message, for you and not for the buyer.", "Your card has insufficient funds."),
    advice: textSchema(adviceText, "use_another_card"),
  }),
);

const AttemptJson = jsonComponent(
  "PaymentAttempt",
  Type.Object({
    id: Type.Optional(textSchema("The attempt's id at the processor; absent if the processor did not create it.")),
    outcome: textSchema("`succeeded` or `failed`.", "failed"),
    failure_code: Type.Optional(textSchema(failureCode, "insufficient_funds")),
    failure_message: Type.Optional(textSchema("The processor's message.")),
    card: optionalProperty(
      jsonComponent(
        "AttemptCard",
        Type.Object({ brand: textSchema("Card brand.", "visa"), last4: textSchema("The last four digits.", "9995") }),
      ),
    ),
    payment_method: optionalProperty(MethodJson),
    three_ds_result: Type.Optional(textSchema("Result of 3-D Secure.", "authenticated")),
    connector: Type.Optional(idSchema("connector", "Your connector that it went to.")),
    created_at: timeSchema("When the attempt began."),
  }),
);

const RoutingJson = jsonComponent(
  "PaymentRouting",
  Type.Object({
    rule: Type.Optional(
      Type.Integer({ description: "Position of the routing's rule that matched, from 1.", examples: [1] }),
    ),
    reason: textSchema(
      "Why the payment is at its connector: `primary`, `rule`, `session` (you named it), `outage` (the one before could not be reached), `decline` (the one before declined it).",
      "rule",
    ),
  }),
);

export const PaymentJson = jsonComponent(
  "Payment",
  Type.Object({
    id: idSchema("payment"),
    amount: requestedAmountSchema,
    captured_amount: capturedAmountSchema,
    fee_amount: amountSchema("Our fee, minor units. Refunds do not return it.", 60),
    refunded_amount: amountSchema("Pending and succeeded refunds, minor units.", 0),
    net_amount: amountSchema(
      "captured_amount − refunded_amount − fee_amount − lost disputes, minor units; 0 before capture.",
      990,
    ),
    processor_fee: Type.Optional(
      amountSchema(
        "The processor's fees for it, minor units; absent until the processor has listed them, and if in another currency.",
        40,
      ),
    ),
    margin: Type.Optional(amountSchema("fee_amount − processor_fee, minor units.", 20)),
    currency: currencySchema,
    status,
    connector_ref: Type.Optional(textSchema("The payment's id at the processor.")),
    connector: Type.Optional(textSchema("Name of the connector.", "simulator")),
    description: Type.Optional(textSchema("Your description.")),
    reference: Type.Optional(referenceSchema),
    customer_email: Type.Optional(textSchema("The buyer's e-mail.", "buyer@example.com")),
    authorization_code: Type.Optional(textSchema("The issuer's authorization code.")),
    receipt_url: Type.Optional(textSchema("The processor's receipt page.")),
    authorized_at: Type.Optional(timeSchema("When the issuer authorized the payment.")),
    capture_method: enumSchema(captureMethods, "`manual`: you capture the payment with the capture operation."),
    capture_before: Type.Optional(
      timeSchema("For an authorized payment: deadline for its capture, after which it is canceled."),
    ),
    captured_at: Type.Optional(timeSchema("When the payment was captured.")),
    failed_at: Type.Optional(timeSchema("When the last attempt failed.")),
    created_at: timeSchema("When it was created."),
    card: optionalProperty(CardJson),
    payment_method: optionalProperty(MethodJson),
    verification: optionalProperty(VerificationJson),
    refunds: Type.Array(RefundJson),
    dispute: optionalProperty(DisputeJson),
    failure: optionalProperty(FailureJson),
    attempts: Type.Array(AttemptJson, { description: "Finished attempts, oldest first." }),
    routing: optionalProperty(RoutingJson),
    metadata: Type.Optional(metadataSchema),
    archived: archivedSchema,
  }),
);

export const PaymentItem = jsonComponent(
  "PaymentItem",
  Type.Object({
    id: idSchema("payment"),
    amount: requestedAmountSchema,
    captured_amount: capturedAmountSchema,
    currency: currencySchema,
    status,
    fee_amount: amountSchema("Our fee, minor units.", 60),
    refunded_amount: amountSchema("Pending and succeeded refunds, minor units.", 0),
    customer_email: Type.Optional(textSchema("The buyer's e-mail.", "buyer@example.com")),
    connector: Type.Optional(textSchema("Name of the connector.", "simulator")),
    card: optionalProperty(CardSummary),
    payment_method: optionalProperty(MethodJson),
    created_at: timeSchema("When it was created."),
  }),
);

export function presentPaymentItem(item: ListedPayment): Static<typeof PaymentItem> {
  return presentMessage(PaymentItem, item, { payment_method: presentMethod(item.method, item.card) });
}

export function presentPayment(payment: Payment | undefined): Static<typeof PaymentJson> {
  return presentMessage(PaymentJson, payment, {
    reference: payment?.orderReference,
    capture_method: captureMethodOf(payment?.captureMethod ?? ""),
    payment_method: presentMethod(payment?.method, payment?.card),
    dispute: payment?.dispute && presentDispute(payment.dispute),
    attempts: payment?.attempts.map(presentAttempt),
    routing: payment?.routing && presentRouting(payment.routing),
    margin: payment?.processorFee === undefined ? undefined : numberOf(payment.feeAmount - payment.processorFee),
  });
}

function presentRouting({ rule, reason }: PaymentRouting): Static<typeof RoutingJson> {
  return { ...(rule > 0 && { rule }), reason };
}

function presentAttempt(attempt: PaymentAttempt): Static<typeof AttemptJson> {
  const { cardBrand: brand, cardLast4: last4, connectorId: connector } = attempt;
  const card = last4 === "" ? undefined : { brand, last4 };
  const payment_method = presentMethod(attempt.method, card);
  return presentMessage(AttemptJson, attempt, { card, payment_method, connector });
}

/** @param card of the same attempt */
function presentMethod(
  method: PaymentMethod | undefined,
  card: (Pick<Card, "brand" | "last4"> & { readonly funding?: string }) | undefined,
): Static<typeof MethodJson> | undefined {
  if (!method) return undefined;
  const { type, wallet, bankCountry, bankLast4 } = method;
  const bank = { ...optionalField("country", bankCountry), ...optionalField("last4", bankLast4) };
  return {
    type,
    ...(type === "card" && card && { card: presentMessage(CardSummary, { funding: "", ...card }) }),
    ...(Object.keys(bank).length > 0 && { bank }),
    ...optionalField("wallet", wallet),
  };
}
