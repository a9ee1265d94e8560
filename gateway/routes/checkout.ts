// The public operations of a buyer's browser, gated by the session's secret (docs/contract.md §4 and §7).
import { Type } from "typebox";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { buyerRoute, type GatewayContext } from "../auth/auth.ts";
import {
  ConfirmedCheckout,
  EmailTaken,
  presentCheckout,
  presentConfirmation,
  presentEmailTaken,
  ResolvedCheckout,
} from "../json/checkout.ts";
import { component, idSchema } from "../json/parts/field.ts";
import { emailInput, emailOf } from "../json/parts/input.ts";
import type { Peers } from "../peers.ts";

const tag = "Checkout (browser)";
const params = Type.Object({ id: idSchema("session", "Id of the session.") });
const query = Type.Object({
  secret: Type.String({
    description: "The session secret. A wrong or missing one is 404 not_found.",
    examples: ["cs_secret_…"],
  }),
});

/** Paths that browsers may call from any origin. */
export const buyerPaths = ["/v1/checkout/:id", "/v1/checkout/:id/confirm", "/v1/checkout/:id/email"] as const;

const BuyerEmail = component(
  "BuyerEmail",
  Type.Object({ customer_email: emailInput("The buyer's e-mail.") }, { additionalProperties: false }),
);

/** Adds the operations. */
export function checkoutRoutes(
  context: GatewayContext,
  { checkout, brandingOf, payments }: Pick<Peers, "checkout" | "brandingOf" | "payments">,
): void {
  buyerRoute(
    context,
    {
      id: "resolveCheckout",
      method: "GET",
      path: buyerPaths[0],
      tag,
      summary: "Read a session in the buyer's browser",
      description:
        "`render` is there while the session can be paid: it is open, and its merchant is neither suspended nor closed. An expired or " +
        "canceled session tells its id, status, branding and merchant alone.",
      status: 200,
      params,
      query,
      response: ResolvedCheckout,
      errors: ["not_found", "payment_blocked", "connector_error"],
    },
    "resolve",
    async ({ sessionId, sessionSecret, request }) => {
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
  );
  buyerRoute(
    context,
    {
      id: "confirmCheckout",
      method: "POST",
      path: buyerPaths[1],
      tag,
      summary: "Confirm that the buyer has paid",
      description:
        "Called after the processor's surface reports completion. The intent is verified with the processor. Safe to repeat: a completed session replays its payment. For a merchant who is suspended or closed, what is paid completes; what is not is canceled, which is 410.",
      status: 200,
      params,
      query,
      response: ConfirmedCheckout,
      errors: ["not_found", "session_expired", "connector_error", "payment_blocked"],
    },
    "confirm",
    async ({ sessionId, sessionSecret, request }) =>
      presentConfirmation(await checkout.confirmSession({ sessionId, sessionSecret, address: request.ip })),
  );
  takeEmail(context, checkout);
}

function takeEmail(context: GatewayContext, checkout: Peers["checkout"]): void {
  buyerRoute(
    context,
    {
      id: "giveEmail",
      method: "POST",
      path: buyerPaths[2],
      tag,
      summary: "Give the buyer's e-mail",
      description:
        "For the session and its payment, before the buyer pays; a later one replaces it while the session is open. One that you gave when you created the session stays. The hosted page calls it where the branding's `email_field` is not `hidden`; a page of yours may, and need not.",
      status: 200,
      params,
      query,
      body: BuyerEmail,
      response: EmailTaken,
      errors: ["not_found", "session_expired"],
    },
    "resolve",
    async ({ sessionId, sessionSecret, body }) =>
      presentEmailTaken(
        await checkout.giveEmail({ sessionId, sessionSecret, customerEmail: emailOf(body.customer_email) }),
      ),
  );
}
