// Public operations for a buyer's browser, authenticated by the session's secret (docs/contract.md §4 and §7).
import { Type } from "typebox";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { idSchema, jsonComponent } from "../../services/public-json/field.ts";
import { buyerRoute, type GatewayContext } from "../auth/auth.ts";
import {
  ConfirmedCheckout,
  EmailTaken,
  presentCheckout,
  presentConfirmation,
  presentEmailTaken,
  ResolvedCheckout,
} from "../json/checkout.ts";
import { emailInput, emailOf } from "../json/parts/input.ts";
import type { Peers } from "../peers.ts";

const tag = "Checkout (browser)";
const params = Type.Object({ id: idSchema("session", "Id of the session.") });
const query = Type.Object({
  secret: Type.String({
    description: "The session secret. A wrong or missing secret is 404 not_found.",
    examples: ["cs_secret_…"],
  }),
});

/** Paths that browsers may call from any origin. */
export const buyerPaths = ["/v1/checkout/:id", "/v1/checkout/:id/confirm", "/v1/checkout/:id/email"] as const;

/** One message for every cause, so a wrong secret and an unknown session look the same (docs/contract.md §2). */
const messages = { not_found: "no checkout session with this id and secret" };

const BuyerEmail = jsonComponent(
  "BuyerEmail",
  Type.Object({ customer_email: emailInput("The buyer's e-mail.") }, { additionalProperties: false }),
);

export function checkoutRoutes(
  context: GatewayContext,
  { checkout, brandingOf, payments }: Pick<Peers, "checkout" | "brandingOf" | "payments">,
): void {
  buyerRoute(context, {
    id: "resolveCheckout",
    method: "GET",
    path: buyerPaths[0],
    limit: "resolve",
    tag,
    summary: "Read a session in the buyer's browser",
    description:
      "`render` is present while the session can be paid: it is open, and its merchant is neither suspended nor closed. An expired or " +
      "canceled session shows only id, status, branding, merchant and cancel_url.",
    params,
    query,
    response: ResolvedCheckout,
    errors: ["not_found", "payment_blocked", "connector_error"],
    messages,
    handle: async ({ sessionId, sessionSecret, request }) => {
      const resolved = await checkout.resolveSession({ sessionId, sessionSecret, address: request.ip });
      const { merchantId = "", environment = Environment.UNSPECIFIED } = resolved.session ?? {};
      const owner = { merchantId, environment };
      const paid = resolved.session?.status === "completed" ? resolved.session.paymentId : undefined;
      const [branding, payment] = await Promise.all([
        brandingOf(owner),
        paid === undefined ? undefined : payments.getPayment({ ...owner, paymentId: paid }).catch(() => undefined),
      ]);
      return presentCheckout(resolved, branding, payment?.payment);
    },
  });
  buyerRoute(context, {
    id: "confirmCheckout",
    method: "POST",
    path: buyerPaths[1],
    limit: "confirm",
    tag,
    summary: "Confirm that the buyer has paid",
    description:
      "Call it after the processor's surface reports completion. It verifies the intent with the processor. Safe to repeat: a completed session returns its payment. For a suspended or closed merchant, a paid session completes; an unpaid one is canceled with 410.",
    params,
    query,
    response: ConfirmedCheckout,
    errors: ["not_found", "session_expired", "connector_error", "payment_blocked"],
    messages,
    handle: async ({ sessionId, sessionSecret, request }) =>
      presentConfirmation(await checkout.confirmSession({ sessionId, sessionSecret, address: request.ip })),
  });
  emailRoute(context, checkout);
}

function emailRoute(context: GatewayContext, checkout: Peers["checkout"]): void {
  buyerRoute(context, {
    id: "giveEmail",
    method: "POST",
    path: buyerPaths[2],
    limit: "resolve",
    tag,
    summary: "Set the buyer's e-mail",
    description:
      "Sets or replaces the e-mail of the session and its payment while the session is open. An e-mail that you set when you created the session is kept. The hosted page calls it unless the branding's `email_field` is `hidden`; your own page may call it.",
    params,
    query,
    body: BuyerEmail,
    response: EmailTaken,
    errors: ["not_found", "session_expired"],
    messages,
    handle: async ({ sessionId, sessionSecret, body }) =>
      presentEmailTaken(
        await checkout.giveEmail({ sessionId, sessionSecret, customerEmail: emailOf(body.customer_email) }),
      ),
  });
}
