// A checkout session as the buyer's browser sees it (docs/contract.md §4): never its secret, its metadata or the
// processor's reference; and once it is expired or canceled no more than who it was with.
import { type Static, Type } from "typebox";
import type {
  ConfirmSessionResponse,
  GiveEmailResponse,
  ResolveSessionResponse,
} from "#proto/checkout/v1/checkout_pb.ts";
import type { GetBrandingResponse } from "#proto/merchant/v1/merchant_pb.ts";
import type { Payment, PaymentFailure } from "#proto/payments/v1/payments_pb.ts";
import { BrandingJson, presentBranding } from "./branding.ts";
import { presentRender, RenderJson, sessionStatus, sessionStatuses } from "./checkout-session.ts";
import {
  amountSchema,
  component,
  currencySchema,
  enumSchema,
  environmentSchema,
  environmentText,
  idSchema,
  listValues,
  numberOf,
  optional,
  optionalField,
  referenceSchema,
  secretSchema,
  textSchema,
  timeSchema,
  timeTextOf,
} from "./parts/field.ts";
import { LineItemJson, presentLines } from "./parts/line-item.ts";
import { captureMethodOf, captureMethods } from "./payment.ts";

const buyerAdvices = ["retry_later", "use_another_card", "contact_issuer"] as const;
const buyerCodes = [
  ...["card_declined", "insufficient_funds", "expired_card", "incorrect_cvc", "incorrect_number", "processing_error"],
  ...["authentication_failed", "card_not_supported", "currency_not_supported", "limit_exceeded", "canceled_by_buyer"],
];

export const ResolvedCheckout = component(
  "Checkout",
  Type.Object({
    id: idSchema("session"),
    status: enumSchema(sessionStatuses, "State of the session."),
    amount: Type.Optional(amountSchema("Minor units.")),
    currency: Type.Optional(currencySchema),
    description: Type.Optional(textSchema("What is paid for.")),
    line_items: Type.Optional(Type.Array(LineItemJson, { description: "What is bought, line by line." })),
    reference: Type.Optional(referenceSchema),
    expires_at: Type.Optional(timeSchema("When an unpaid session expires.")),
    connector: Type.Optional(textSchema("Name of the connector.", "simulator")),
    surface: Type.Optional(textSchema("`embedded`, `hosted` or `redirect`.", "embedded")),
    environment: Type.Optional(environmentSchema),
    capture_method: Type.Optional(enumSchema(captureMethods, "`manual`: the money is held now, and taken later.")),
    render: optional(RenderJson),
    branding: BrandingJson,
    merchant: Type.Object({
      display_name: textSchema("The merchant's name for buyers.", "Lemon Books"),
      support_email: Type.Optional(textSchema("For buyers' questions.")),
    }),
    legal: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(textSchema("The merchant's registered name: the seller.", "Lemon Books GmbH")),
          terms_url: Type.Optional(textSchema("https URL of the seller's terms.")),
          privacy_url: Type.Optional(textSchema("https URL of the seller's privacy notice.")),
        },
        { description: "Who sells, and under which terms; absent where the merchant does not say." },
      ),
    ),
    email_field: Type.Optional(
      enumSchema(["optional", "required"], "Ask the buyer for an e-mail; absent: there is one, or nobody wants one."),
    ),
    payment_id: Type.Optional(idSchema("payment")),
    payment_status: Type.Optional(textSchema("The payment's status, once an attempt was seen.", "succeeded")),
    receipt_url: Type.Optional(textSchema("The processor's receipt page.")),
    paid_at: Type.Optional(timeSchema("When it was paid.")),
    card: Type.Optional(
      Type.Object(
        { brand: textSchema("Network.", "visa"), last4: textSchema("Last four digits.", "4242") },
        { description: "The card that paid; absent while nobody can say." },
      ),
    ),
    success_url: Type.Optional(textSchema("Where to go after success.")),
    cancel_url: Type.Optional(textSchema("Where to go without paying.")),
    return_url: Type.Optional(
      secretSchema(
        "The hosted page as a processor's redirect should open it: it shows how the session stands and nothing else; only with a configured origin.",
      ),
    ),
  }),
);

export const ConfirmedCheckout = component(
  "Confirmation",
  Type.Object({
    id: idSchema("session"),
    status: enumSchema(sessionStatuses, "State of the session; `completed` once it is paid."),
    payment_id: idSchema("payment"),
    payment_status: textSchema(
      "`succeeded`, `processing`, `failed` (declined; the buyer may try again), `requires_action` or `pending`.",
      "succeeded",
    ),
    failure: Type.Optional(
      Type.Object(
        {
          code: textSchema(
            `${listValues(buyerCodes)} As in the failure table (§5), without what only you may know.`,
            "insufficient_funds",
          ),
          advice: textSchema(listValues(buyerAdvices), "use_another_card"),
        },
        { description: "Why the last attempt was declined; absent where it was not, or where nobody can say." },
      ),
    ),
  }),
);

export const EmailTaken = component(
  "EmailTaken",
  Type.Object({
    id: idSchema("session"),
    status: enumSchema(sessionStatuses, "State of the session."),
    accepted: Type.Boolean({
      description:
        "False: nothing changed, since the merchant gave an e-mail already, or the payment is under way or made.",
    }),
  }),
);

/** docs/contract.md §4: what giving an e-mail came to. */
export function presentEmailTaken(answer: GiveEmailResponse): Static<typeof EmailTaken> {
  return { id: answer.sessionId, status: sessionStatus(answer.status), accepted: answer.accepted };
}

/** What a buyer may hear: a thief who tests cards learns nothing from it that an honest buyer needs. */
function buyerFailure({ code, advice }: PaymentFailure): NonNullable<Static<typeof ConfirmedCheckout>["failure"]> {
  const isPublic = buyerCodes.some((each) => each === code);
  return isPublic ? { code, advice } : { code: "card_declined", advice: "use_another_card" };
}

/** What a page needs to show the session. @param payment of a completed one, where it could be read */
export function presentCheckout(
  { session, render, takesEmail, returnUrl }: ResolveSessionResponse,
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
  if (session.status === "expired" || session.status === "canceled") return lasting;
  return {
    ...lasting,
    amount: numberOf(session.amount),
    currency: session.currency,
    ...optionalField("description", session.description),
    ...presentLines(session.lineItems),
    ...optionalField("reference", session.orderReference),
    expires_at: timeTextOf(session.expiresAt),
    connector: session.connector,
    surface: session.surface,
    environment: environmentText(session.environment),
    capture_method: captureMethodOf(session.captureMethod),
    ...(isOffered && render && { render: presentRender(render) }),
    ...presentLegal(branding),
    ...(isOffered && takesEmail && presentEmailField(presented.email_field)),
    ...(!session.paymentHidden && { payment_id: session.paymentId }),
    ...optionalField("payment_status", session.paymentStatus),
    ...optionalField("receipt_url", session.receiptUrl),
    ...(session.completedAt && { paid_at: timeTextOf(session.completedAt) }),
    ...(payment?.card && { card: { brand: payment.card.brand, last4: payment.card.last4 } }),
    ...optionalField("success_url", session.successUrl),
    ...optionalField("cancel_url", session.cancelUrl),
    ...optionalField("return_url", returnUrl),
  };
}

function presentEmailField(setting: string | undefined): Pick<Static<typeof ResolvedCheckout>, "email_field"> {
  return setting === "optional" || setting === "required" ? { email_field: setting } : {};
}

function presentLegal({ legalName, branding }: GetBrandingResponse): Pick<Static<typeof ResolvedCheckout>, "legal"> {
  const legal = {
    ...optionalField("name", legalName),
    ...optionalField("terms_url", branding?.termsUrl),
    ...optionalField("privacy_url", branding?.privacyUrl),
  };
  return Object.keys(legal).length > 0 ? { legal } : {};
}

/** Who is suspended or closed shows nothing to pay with; a merchant service of the release before tells no status. */
function takesPayments(merchantStatus: string): boolean {
  return merchantStatus === "active" || merchantStatus === "";
}

/** docs/contract.md §4: the fields of confirm. */
export function presentConfirmation(answer: ConfirmSessionResponse): Static<typeof ConfirmedCheckout> {
  return {
    id: answer.sessionId,
    status: sessionStatus(answer.status),
    payment_id: answer.paymentId,
    payment_status: answer.paymentStatus,
    ...(answer.failure && { failure: buyerFailure(answer.failure) }),
  };
}
