// Checkout sessions for the merchant's backend: create, list, read, expire (docs/contract.md §4).
import { Type } from "typebox";
import {
  CreatedSession,
  lineAmount,
  presentCreated,
  presentSession,
  SessionJson,
  sessionStatuses,
} from "../../services/public-json/checkout-session.ts";
import { amountSchema, enumSchema, idSchema, jsonComponent, metadataSchema } from "../../services/public-json/field.ts";
import { captureMethodInput } from "../../services/public-json/payment.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { displayLine, displayText } from "../http/display-text.ts";
import { idempotencyOf, markReplay } from "../idempotency.ts";
import {
  currencyInput,
  currencyOf,
  emailInput,
  emailOf,
  referenceFilter,
  referenceInput,
  returnUrlOf,
  searchOf,
  urlInput,
} from "../json/parts/input.ts";
import { archivedPageSchema, pageOf, pageQueryOf, windowOf } from "../json/parts/list.ts";
import { timeBoundQuery, timeBounds } from "../json/parts/time-bound.ts";
import { strict } from "../operation.ts";
import type { Peers } from "../peers.ts";

const lineAmountMax = 99_999_999;

const LineItemInput = jsonComponent(
  "NewLineItem",
  Type.Object(
    {
      name: Type.String({ format: displayLine, minLength: 1, maxLength: 200, examples: ["Lemon cookbook"] }),
      quantity: Type.Integer({ minimum: 1, maximum: 9_999, examples: [2] }),
      amount: Type.Integer({ ...lineAmount, minimum: -lineAmountMax, maximum: lineAmountMax }),
    },
    { additionalProperties: false },
  ),
);

const tag = "Checkout sessions";
const sessionId = Type.Object({ id: idSchema("session", "Id of the session.") });

/** The pattern is of a string, the items are of a list. */
const paymentMethodsInput = Type.Unsafe<string | string[]>({
  type: ["string", "array"],
  pattern: "^automatic$",
  items: { type: "string", maxLength: 64 },
  minItems: 1,
  maxItems: 50,
  description:
    "`automatic` (default): the methods that are switched on at the connector and fit the order. Or a list of their types.",
  examples: ["automatic", ["card", "ideal"]],
});

const NewSession = jsonComponent(
  "NewCheckoutSession",
  Type.Object(
    {
      amount: Type.Integer({
        ...amountSchema("Minor units: 1050 means 10.50."),
        minimum: 1,
        maximum: 99_999_999,
      }),
      currency: currencyInput("ISO 4217, any case."),
      description: Type.Optional(Type.String({ format: displayText, maxLength: 255, examples: ["Order 1042"] })),
      reference: Type.Optional(referenceInput),
      customer_email: Type.Optional(emailInput("The buyer's e-mail.")),
      metadata: Type.Optional(metadataSchema),
      capture_method: Type.Optional(captureMethodInput),
      connector: Type.Optional(idSchema("connector", "Connector to use; by default your routing chooses.")),
      payment_methods: Type.Optional(paymentMethodsInput),
      success_url: Type.Optional(
        urlInput("URL that the hosted page opens after success: https; in sandbox also http to localhost."),
      ),
      cancel_url: Type.Optional(
        urlInput("URL that the hosted page opens when the buyer cancels; same rules as success_url."),
      ),
      expires_in: Type.Optional(
        Type.Integer({
          minimum: 300,
          maximum: 2_592_000,
          description: "Seconds, up to 30 days; default 86,400.",
          examples: [3600],
        }),
      ),
      locale: Type.Optional(
        Type.String({
          maxLength: 35,
          pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
          description: "BCP 47 tag, with hyphens.",
          examples: ["de-DE"],
        }),
      ),
      line_items: Type.Optional(
        Type.Array(LineItemInput, {
          minItems: 1,
          maxItems: 100,
          description: "The items of the order, shown to the buyer. Their amounts must add up to `amount`.",
        }),
      ),
    },
    strict,
  ),
);

export function checkoutSessionRoutes(context: GatewayContext, { checkout }: Pick<Peers, "checkout">): void {
  createSession(context, checkout);
  readSessions(context, checkout);
  merchantRoute(context, {
    id: "expireCheckoutSession",
    method: "POST",
    path: "/v1/checkout-sessions/:id/expire",
    scope: "payments:write",
    tag,
    summary: "Expire a checkout session now",
    description: "Checks with the processor first: a paid session completes instead.",
    params: sessionId,
    response: SessionJson,
    errors: ["not_found", "connector_error"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      const { session } = await checkout.expireSession({ merchantId, environment, sessionId: params.id });
      if (!session) throw new Error("the expired session is missing");
      return presentSession(session);
    },
  });
}

function createSession(context: GatewayContext, checkout: Peers["checkout"]): void {
  merchantRoute(context, {
    id: "createCheckoutSession",
    method: "POST",
    path: "/v1/checkout-sessions",
    scope: "payments:write",
    tag,
    summary: "Create a checkout session",
    description: "Also creates a payment intent at the connector that you name, or that your routing chooses.",
    status: 201,
    body: NewSession,
    response: CreatedSession,
    errors: ["payment_blocked", "no_connector", "connector_error"],
    idempotent: true,
    handle: async ({ principal: { merchantId, environment }, body, request, reply }) => {
      const answer = await checkout.createSession({
        merchantId,
        environment,
        amount: BigInt(body.amount),
        currency: currencyOf("currency", body.currency),
        description: body.description ?? "",
        orderReference: body.reference ?? "",
        customerEmail: emailOf(body.customer_email ?? ""),
        metadata: body.metadata ?? {},
        successUrl: body.success_url ? returnUrlOf("success_url", body.success_url, environment) : "",
        cancelUrl: body.cancel_url ? returnUrlOf("cancel_url", body.cancel_url, environment) : "",
        expiresInSeconds: body.expires_in ?? 0,
        locale: body.locale ?? "",
        captureMethod: body.capture_method ?? "",
        connectorId: body.connector ?? "",
        paymentMethods: Array.isArray(body.payment_methods) ? [...new Set(body.payment_methods)] : [],
        lineItems: (body.line_items ?? []).map((line) => ({ ...line, amount: BigInt(line.amount) })),
        ...idempotencyOf(request),
      });
      markReplay(reply, answer.replayed);
      return presentCreated(answer);
    },
  });
}

function readSessions(context: GatewayContext, checkout: Peers["checkout"]): void {
  merchantRoute(context, {
    id: "listCheckoutSessions",
    method: "GET",
    path: "/v1/checkout-sessions",
    scope: "payments:read",
    tag,
    summary: "List checkout sessions",
    description: "Newest first.",
    query: Type.Object({
      ...pageQueryOf("session"),
      status: Type.Optional(enumSchema(sessionStatuses, "Exact match.")),
      ...timeBoundQuery,
      reference: Type.Optional(referenceFilter),
      customer_email: Type.Optional(
        Type.String({ maxLength: 254, description: "Exact match, any case.", examples: ["buyer@example.com"] }),
      ),
      q: Type.Optional(
        Type.String({
          maxLength: 254,
          description:
            "Id of a session or of its payment, complete or abbreviated (the prefix and at least 14 characters), or the beginning of its reference or e-mail (both in any case).",
          examples: ["order-10"],
        }),
      ),
    }),
    response: archivedPageSchema(SessionJson),
    handle: async ({ principal: { merchantId, environment }, query }) => {
      const answer = await checkout.listSessions({
        merchantId,
        environment,
        ...windowOf(query),
        status: query.status ?? "",
        ...timeBounds(query),
        orderReference: query.reference ?? "",
        customerEmail: emailOf(query.customer_email ?? ""),
        q: searchOf(query.q),
      });
      return pageOf(answer.sessions.map(presentSession), query, answer);
    },
  });
  merchantRoute(context, {
    id: "getCheckoutSession",
    method: "GET",
    path: "/v1/checkout-sessions/:id",
    scope: "payments:read",
    tag,
    summary: "Read a checkout session",
    description: "With line items, without the secret. `payment_id` is present once the payment can be read.",
    params: sessionId,
    response: SessionJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      const { session } = await checkout.getSession({ merchantId, environment, sessionId: params.id });
      if (!session) throw new Error("the session is missing");
      return presentSession(session);
    },
  });
}
