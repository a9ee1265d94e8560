// Checkout sessions as public JSON for the merchant (docs/contract.md §4). The buyer's view is in
// gateway/json/checkout.ts.
import { type Static, Type } from "typebox";
import type { CreateSessionResponse, Session } from "#proto/checkout/v1/checkout_pb.ts";
import {
  amountSchema,
  archivedSchema,
  currencySchema,
  enumSchema,
  environmentSchema,
  idSchema,
  jsonComponent,
  metadataSchema,
  referenceSchema,
  secretSchema,
  textSchema,
  timeSchema,
} from "./field.ts";
import { captureMethodOf, captureMethods } from "./payment.ts";
import { presentMessage } from "./present.ts";

export const sessionStatuses = ["open", "processing", "completed", "expired", "canceled"] as const;

export const RenderJson = jsonComponent(
  "Render",
  Type.Object(
    {
      kind: textSchema("How to mount the processor's surface: `element`, `frame` or `redirect`.", "frame"),
      connector: textSchema("Name of the connector.", "simulator"),
      environment: environmentSchema,
      publishable_key: Type.Optional(textSchema("The processor's public key.")),
      client_secret: Type.Optional(secretSchema("The processor's secret of this intent, for the buyer's browser.")),
      script_url: Type.Optional(textSchema("The processor's script, for kind `element`.")),
      script_integrity: Type.Optional(textSchema("The script's Subresource Integrity, if it is pinned.")),
      style_url: Type.Optional(textSchema("The style sheet of the processor's script.")),
      style_integrity: Type.Optional(textSchema("The style sheet's Subresource Integrity.")),
      options: Type.Optional(textSchema("Other settings of the processor's script, a JSON object as text.")),
      frame_url: Type.Optional(secretSchema("The processor's page for an iframe, for kind `frame`.")),
      redirect_url: Type.Optional(secretSchema("The processor's page for the buyer, for kind `redirect`.")),
    },
    { description: "Data to mount the processor's surface in the browser." },
  ),
);

export const lineAmount = {
  format: "int64",
  description: "Amount of the whole line, minor units; negative for a discount.",
  examples: [1050],
};

/** Merchant and buyer get line items as they were sent. */
export const LineItemJson = jsonComponent(
  "LineItem",
  Type.Object({
    name: textSchema("Name of the item.", "Lemon cookbook"),
    quantity: Type.Integer({ examples: [2] }),
    amount: Type.Integer(lineAmount),
  }),
);

const shared = {
  id: idSchema("session"),
  connector: textSchema("Name of the connector.", "simulator"),
  surface: textSchema("`embedded`, `hosted` or `redirect`.", "embedded"),
  amount: amountSchema("Requested amount, minor units."),
  currency: currencySchema,
  status: enumSchema(sessionStatuses, "State of the session."),
  capture_method: enumSchema(captureMethods, "`manual`: the payment is authorized, and you capture it later."),
  expires_at: timeSchema("When an unpaid session expires."),
};

export const CreatedSession = jsonComponent(
  "CreatedCheckoutSession",
  Type.Object({
    ...shared,
    session_secret: secretSchema("Secret of this session; the only credential for the buyer's browser.", "cs_secret_…"),
    render: RenderJson,
    checkout_url: Type.Optional(
      secretSchema("Hosted page with the session secret in its fragment; present if the service has a public origin."),
    ),
  }),
);

export const SessionJson = jsonComponent(
  "CheckoutSession",
  Type.Object({
    ...shared,
    environment: environmentSchema,
    description: Type.Optional(textSchema("Your description.")),
    reference: Type.Optional(referenceSchema),
    customer_email: Type.Optional(textSchema("The buyer's e-mail.", "buyer@example.com")),
    metadata: Type.Optional(metadataSchema),
    payment_id: Type.Optional(idSchema("payment", "The session's payment; absent until it can be read.")),
    payment_status: Type.Optional(textSchema("The payment's status, after the first attempt.", "succeeded")),
    payment_link_id: Type.Optional(idSchema("paymentLink", "The payment link that it was made from.")),
    captured_amount: Type.Optional(
      amountSchema(
        "Captured amount, minor units, at `payment_status`: 0 for a `succeeded` payment that is only authorized.",
      ),
    ),
    receipt_url: Type.Optional(textSchema("The processor's receipt page.")),
    success_url: Type.Optional(textSchema("URL that the hosted page opens after success.")),
    cancel_url: Type.Optional(textSchema("URL that the hosted page opens when the buyer cancels.")),
    locale: Type.Optional(textSchema("BCP 47 tag.", "en")),
    line_items: Type.Optional(Type.Array(LineItemJson, { description: "The items of the order; not in lists." })),
    created_at: timeSchema("When it was created."),
    completed_at: Type.Optional(timeSchema("When it was completed.")),
    archived: archivedSchema,
  }),
);

export function presentCreated(answer: CreateSessionResponse): Static<typeof CreatedSession> {
  const { session, render, sessionSecret, checkoutUrl } = answer;
  return presentMessage(CreatedSession, session, {
    capture_method: captureMethodOf(session?.captureMethod ?? ""),
    session_secret: sessionSecret,
    render: render && presentMessage(RenderJson, render),
    checkout_url: checkoutUrl,
  });
}

export function presentSession(session: Session): Static<typeof SessionJson> {
  return presentMessage(SessionJson, session, {
    reference: session.orderReference,
    capture_method: captureMethodOf(session.captureMethod),
    payment_id: session.paymentHidden ? undefined : session.paymentId,
  });
}

/** @throws for a status that is not in the contract. */
export function sessionStatus(text: string): (typeof sessionStatuses)[number] {
  const status = sessionStatuses.find((known) => known === text);
  if (!status) throw new Error("unknown session status");
  return status;
}
