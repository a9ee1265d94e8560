// A checkout session for the buyer's browser (docs/contract.md §4), without secret, metadata or processor reference.
// An expired or canceled session shows only its merchant and the way back.
import { type Static, Type } from "typebox";
import type {
  ConfirmSessionResponse,
  GiveEmailResponse,
  ResolveSessionResponse,
} from "#proto/checkout/v1/checkout_pb.ts";
import type { GetBrandingResponse } from "#proto/merchant/v1/merchant_pb.ts";
import type { Payment, PaymentFailure } from "#proto/payments/v1/payments_pb.ts";
import {
  LineItemJson,
  RenderJson,
  sessionStatus,
  sessionStatuses,
} from "../../services/public-json/checkout-session.ts";
import {
  amountSchema,
  currencySchema,
  enumSchema,
  environmentSchema,
  idSchema,
  jsonComponent,
  listValues,
  optionalField,
  optionalProperty,
  referenceSchema,
  secretSchema,
  textSchema,
  timeSchema,
  timeText,
} from "../../services/public-json/field.ts";
import { captureMethodOf, captureMethods } from "../../services/public-json/payment.ts";
import { presentMessage } from "../../services/public-json/present.ts";
import { BrandingJson, presentBranding } from "./branding.ts";

const buyerAdvices = ["retry_later", "use_another_card", "contact_issuer"] as const;
const buyerCodes = [
  ...["card_declined", "insufficient_funds", "expired_card", "incorrect_cvc", "incorrect_number", "processing_error"],
  ...["authentication_failed", "card_not_supported", "currency_not_supported", "limit_exceeded", "canceled_by_buyer"],
];

export const ResolvedCheckout = jsonComponent(
  "Checkout",
  Type.Object({
    id: idSchema("session"),
    status: enumSchema(sessionStatuses, "State of the session."),
    amount: Type.Optional(amountSchema("Minor units.")),
    currency: Type.Optional(currencySchema),
    description: Type.Optional(textSchema("The session's description.")),
    line_items: Type.Optional(Type.Array(LineItemJson, { description: "The items of the order." })),
    reference: Type.Optional(referenceSchema),
    expires_at: Type.Optional(timeSchema("When an unpaid session expires.")),
    connector: Type.Optional(textSchema("Name of the connector.", "simulator")),
    surface: Type.Optional(textSchema("`embedded`, `hosted` or `redirect`.", "embedded")),
    environment: Type.Optional(environmentSchema),
    capture_method: Type.Optional(
      enumSchema(captureMethods, "`manual`: the payment is authorized now and captured later."),
    ),
    render: optionalProperty(RenderJson),
    branding: BrandingJson,
    merchant: Type.Object({
      display_name: textSchema("The merchant's name for buyers.", "Lemon Books"),
      support_email: Type.Optional(textSchema("For buyers' questions.")),
    }),
    legal: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(textSchema("The seller's registered name.", "Lemon Books GmbH")),
          terms_url: Type.Optional(textSchema("https URL of the seller's terms.")),
          privacy_url: Type.Optional(textSchema("https URL of the seller's privacy notice.")),
        },
        { description: "The seller and its terms; absent if the merchant has set none." },
      ),
    ),
    email_field: Type.Optional(
      enumSchema(
        ["optional", "required"],
        "Whether to ask the buyer for an e-mail; absent if it is known or not wanted.",
      ),
    ),
    payment_id: Type.Optional(idSchema("payment")),
    payment_status: Type.Optional(textSchema("The payment's status, after the first attempt.", "succeeded")),
    receipt_url: Type.Optional(textSchema("The processor's receipt page.")),
    receipt_page_url: Type.Optional(
      secretSchema(
        "Receipt page of a completed session, which may be kept and shown to others: it opens nothing else. Present if the service has a public origin.",
      ),
    ),
    receipt_email: Type.Optional(
      enumSchema(["available"], "Whether the receipt page can send the receipt to the session's e-mail; absent: no."),
    ),
    paid_at: Type.Optional(timeSchema("When it was paid.")),
    card: Type.Optional(
      Type.Object(
        { brand: textSchema("Network.", "visa"), last4: textSchema("Last four digits.", "4242") },
        { description: "The card that paid; absent until it is known." },
      ),
    ),
    success_url: Type.Optional(textSchema("URL to send the buyer to after success.")),
    cancel_url: Type.Optional(textSchema("URL to send a buyer to who does not pay.")),
    return_url: Type.Optional(
      secretSchema(
        "Return URL for a processor's redirect: the hosted page with only the session's status. Present if the service has a public origin.",
      ),
    ),
  }),
);

export const ConfirmedCheckout = jsonComponent(
  "Confirmation",
  Type.Object({
    id: idSchema("session"),
    status: enumSchema(sessionStatuses, "State of the session; `completed` after payment."),
    payment_id: idSchema("payment"),
    payment_status: textSchema(
      "`succeeded`, `processing`, `failed` (declined; the buyer may try again), `requires_action` or `pending`.",
      "succeeded",
    ),
    render_replaced: Type.Optional(
      Type.Boolean({
        description:
          "True: the decline moved the payment to another connector. Read the session again and mount its new `render`.",
      }),
    ),
    failure: Type.Optional(
      Type.Object(
        {
          code: textSchema(
            `${listValues(buyerCodes)} A subset of the payment's failure codes: others are not shown to buyers.`,
            "insufficient_funds",
          ),
          advice: textSchema(listValues(buyerAdvices), "use_another_card"),
        },
        { description: "Why the last attempt was declined; absent if it was not declined or the reason is unknown." },
      ),
    ),
  }),
);

export const EmailTaken = jsonComponent(
  "EmailTaken",
  Type.Object({
    id: idSchema("session"),
    status: enumSchema(sessionStatuses, "State of the session."),
    accepted: Type.Boolean({
      description:
        "If false, nothing changed: the merchant has already set an e-mail, or the payment is in progress or completed.",
    }),
  }),
);

export function presentEmailTaken(answer: GiveEmailResponse): Static<typeof EmailTaken> {
  return { id: answer.sessionId, status: sessionStatus(answer.status), accepted: answer.accepted };
}

/** Hides codes that help a thief who tests cards and that an honest buyer does not need. */
function buyerFailure({ code, advice }: PaymentFailure): NonNullable<Static<typeof ConfirmedCheckout>["failure"]> {
  const isPublic = buyerCodes.some((each) => each === code);
  return isPublic ? { code, advice } : { code: "card_declined", advice: "use_another_card" };
}

/** @param payment of a completed session, if it could be read */
export function presentCheckout(
  { session, render, takesEmail, returnUrl, receiptPageUrl }: ResolveSessionResponse,
  branding: GetBrandingResponse,
  payment?: Payment,
): Static<typeof ResolvedCheckout> {
  if (!session) throw new Error("the resolved session is missing");
  const presented = presentBranding(branding.branding);
  const isOffered = session.status === "open" && takesPayments(branding.merchantStatus);
  const lasting = {
    id: session.id,
    status: sessionStatus(session.status),
    branding: presented,
    merchant: {
      display_name: presented.display_name ?? branding.merchantName,
      ...optionalField("support_email", presented.support_email),
    },
  };
  if (session.status === "expired" || session.status === "canceled")
    return { ...lasting, ...optionalField("cancel_url", session.cancelUrl) };
  const { legalName, branding: pages, canMail } = branding;
  const { card, capturedAmount = 0n } = payment ?? {};
  const hasMail = receiptPageUrl !== "" && canMail && session.customerEmail !== "" && capturedAmount > 0n;
  return presentMessage(ResolvedCheckout, session, {
    ...lasting,
    reference: session.orderReference,
    capture_method: captureMethodOf(session.captureMethod),
    render: isOffered && render ? presentMessage(RenderJson, render) : undefined,
    legal: {
      ...optionalField("name", legalName),
      ...optionalField("terms_url", pages?.termsUrl),
      ...optionalField("privacy_url", pages?.privacyUrl),
    },
    email_field: isOffered && takesEmail ? emailFieldOf(presented.email_field) : undefined,
    payment_id: session.paymentHidden ? undefined : session.paymentId,
    paid_at: timeText(session.completedAt),
    card: card && { brand: card.brand, last4: card.last4 },
    return_url: returnUrl,
    receipt_page_url: receiptPageUrl,
    receipt_email: hasMail ? ("available" as const) : undefined,
  });
}

function emailFieldOf(setting: string | undefined): "optional" | "required" | undefined {
  return setting === "optional" || setting === "required" ? setting : undefined;
}

/** False for a suspended or closed merchant. A merchant service of the previous release sends no status. */
export function takesPayments(merchantStatus: string): boolean {
  return merchantStatus === "active" || merchantStatus === "";
}

export function presentConfirmation(answer: ConfirmSessionResponse): Static<typeof ConfirmedCheckout> {
  return {
    id: answer.sessionId,
    status: sessionStatus(answer.status),
    payment_id: answer.paymentId,
    payment_status: answer.paymentStatus,
    ...(answer.renderReplaced && { render_replaced: true as const }),
    ...(answer.failure && { failure: buyerFailure(answer.failure) }),
  };
}
