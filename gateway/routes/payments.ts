// Payments: create without a session, list, read (docs/contract.md §5).
import { create } from "@bufbuild/protobuf";
import { Type } from "typebox";
import { ListPaymentsResponseSchema } from "#proto/payments/v1/payments_pb.ts";
import { amountSchema, idSchema, jsonComponent, metadataSchema } from "../../services/public-json/field.ts";
import {
  captureMethodInput,
  PaymentItem,
  PaymentJson,
  paymentStatusText,
  presentPayment,
  presentPaymentItem,
} from "../../services/public-json/payment.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { displayText } from "../http/display-text.ts";
import { keyOrOwn, markReplay } from "../idempotency.ts";
import {
  currencyInput,
  currencyOf,
  emailInput,
  emailOf,
  referenceFilter,
  referenceInput,
  searchOf,
} from "../json/parts/input.ts";
import { archivedPageSchema, assertOrder, emptyForUnknown, pageOf, pageQueryOf, windowOf } from "../json/parts/list.ts";
import { capturedBoundQuery, capturedBounds, timeBoundQuery, timeBounds } from "../json/parts/time-bound.ts";
import { strict } from "../operation.ts";
import type { Peers } from "../peers.ts";

const tag = "Payments";

const listQuery = Type.Object({
  ...pageQueryOf("payment"),
  status: Type.Optional(
    Type.String({ maxLength: 32, description: `Exact match: ${paymentStatusText}`, examples: ["succeeded"] }),
  ),
  ...timeBoundQuery,
  q: Type.Optional(
    Type.String({
      maxLength: 254,
      description:
        "Payment id (exact or prefix), part of an e-mail (any case), the last four digits, the beginning of a reference (any case), or the whole connector_ref.",
      examples: ["buyer@example.com"],
    }),
  ),
  min_amount: Type.Optional(Type.Integer({ format: "int64", description: "Minor units.", examples: [100] })),
  max_amount: Type.Optional(Type.Integer({ format: "int64", description: "Minor units.", examples: [5000] })),
  reference: Type.Optional(referenceFilter),
  currency: Type.Optional(currencyInput("ISO 4217, any case.")),
  connector: Type.Optional(
    Type.String({ maxLength: 64, description: "Name of the connector, exact match.", examples: ["simulator"] }),
  ),
  ...capturedBoundQuery,
});

const NewCapture = jsonComponent(
  "NewCapture",
  Type.Object(
    {
      amount: Type.Optional(
        Type.Integer({
          ...amountSchema(
            "Minor units; default: the full authorized amount. A partial capture releases the rest.",
            500,
          ),
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
        }),
      ),
    },
    strict,
  ),
);

const NewCancellation = jsonComponent("NewCancellation", Type.Object({}, strict));

const paymentId = Type.Object({ id: idSchema("payment", "Id of the payment.") });

const NewPayment = jsonComponent(
  "NewPayment",
  Type.Object(
    {
      amount: Type.Integer({ ...amountSchema("Minor units: 1050 means 10.50."), minimum: 1, maximum: 99_999_999 }),
      currency: currencyInput("ISO 4217, any case."),
      payment_method: Type.String({
        pattern: "^[\\x21-\\x7e]{1,255}$",
        description:
          "The processor's token for a card, which the buyer's browser gets from the processor. Never send card data.",
        examples: ["pm_1kd3v9q6k8m2n4p6r8t0v2x4z"],
      }),
      description: Type.Optional(Type.String({ format: displayText, maxLength: 255, examples: ["Order 1042"] })),
      reference: Type.Optional(referenceInput),
      customer_email: Type.Optional(emailInput("The buyer's e-mail.")),
      metadata: Type.Optional(metadataSchema),
      capture_method: Type.Optional(captureMethodInput),
    },
    strict,
  ),
);

export function paymentRoutes(
  context: GatewayContext,
  { payments, checkout }: Pick<Peers, "payments" | "checkout">,
): void {
  createPayment(context, checkout);
  captureAndCancel(context, payments);
  merchantRoute(context, {
    id: "listPayments",
    method: "GET",
    path: "/v1/payments",
    scope: "payments:read",
    tag,
    summary: "List payments",
    description: "Newest first. `total` is exact for the filters.",
    query: listQuery,
    response: archivedPageSchema(PaymentItem),
    handle: async ({ principal: { merchantId, environment }, query }) => {
      assertOrder("min_amount", query.min_amount, query.max_amount, "max_amount");
      const found = payments.listPayments({
        merchantId,
        environment,
        ...windowOf(query),
        status: query.status ?? "",
        q: searchOf(query.q),
        ...timeBounds(query),
        ...(query.min_amount !== undefined && { minAmount: BigInt(query.min_amount) }),
        ...(query.max_amount !== undefined && { maxAmount: BigInt(query.max_amount) }),
        orderReference: query.reference ?? "",
        currency: query.currency === undefined ? "" : currencyOf("currency", query.currency),
        connector: query.connector ?? "",
        ...capturedBounds(query),
      });
      const answer = await emptyForUnknown("status", found, create(ListPaymentsResponseSchema));
      return pageOf(
        answer.payments.map((each) => presentPaymentItem(each)),
        query,
        answer,
      );
    },
  });
  merchantRoute(context, {
    id: "getPayment",
    method: "GET",
    path: "/v1/payments/:id",
    scope: "payments:read",
    tag,
    summary: "Read a payment",
    description: "The full record with refunds and dispute.",
    params: paymentId,
    response: PaymentJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      const { payment } = await payments.getPayment({ merchantId, environment, paymentId: params.id });
      return presentPayment(payment);
    },
  });
}

function createPayment(context: GatewayContext, checkout: Peers["checkout"]): void {
  merchantRoute(context, {
    id: "createPayment",
    method: "POST",
    path: "/v1/payments",
    scope: "payments:write",
    tag,
    summary: "Create a payment without a checkout session",
    description:
      "Charges a card by the processor's token while the buyer is absent. `status` is `succeeded`, `failed`, or `processing` or `pending` until the processor reports the result; a webhook then reports the final status. A card that requires 3-D Secure fails: use a checkout session instead. The error `connector_error` (502) means that nothing reached the processor; if the request may have arrived, the response is 201. If the processor never created the payment, it ends as `failed` with the failure code `not_processed`, and `payment.failed` is delivered.",
    status: 201,
    body: NewPayment,
    response: PaymentJson,
    errors: ["payment_blocked", "no_connector", "connector_error"],
    idempotent: true,
    movesMoney: true,
    handle: async ({ principal: { merchantId, environment }, body, request, reply }) => {
      const answer = await checkout.createPayment({
        merchantId,
        environment,
        amount: BigInt(body.amount),
        currency: currencyOf("currency", body.currency),
        description: body.description ?? "",
        orderReference: body.reference ?? "",
        customerEmail: emailOf(body.customer_email ?? ""),
        metadata: body.metadata ?? {},
        paymentMethod: body.payment_method,
        captureMethod: body.capture_method ?? "",
        ...keyOrOwn(request),
      });
      markReplay(reply, answer.replayed);
      return presentPayment(answer.payment);
    },
  });
}

function captureAndCancel(context: GatewayContext, payments: Peers["payments"]): void {
  merchantRoute(context, {
    id: "capturePayment",
    method: "POST",
    path: "/v1/payments/:id/capture",
    scope: "payments:write",
    tag,
    summary: "Capture a payment",
    description:
      "Captures all or part of an authorized payment with `capture_method` `manual`, once and before `capture_before`. A partial capture releases the rest. The body may be empty. Until the processor confirms, the payment has no `captured_at`; the event `authorization.captured` reports the capture.",
    params: paymentId,
    body: NewCapture,
    response: PaymentJson,
    errors: ["not_found", "not_capturable", "amount_too_large", "connector_error"],
    messages: { amount_too_large: "amount exceeds the authorized amount" },
    idempotent: true,
    movesMoney: true,
    handle: async ({ principal: { merchantId, environment }, params, body, request, reply }) => {
      const answer = await payments.capturePayment({
        merchantId,
        environment,
        paymentId: params.id,
        ...(body.amount !== undefined && { amount: BigInt(body.amount) }),
        ...keyOrOwn(request),
      });
      markReplay(reply, answer.replayed);
      return presentPayment(answer.payment);
    },
  });
  merchantRoute(context, {
    id: "cancelPayment",
    method: "POST",
    path: "/v1/payments/:id/cancel",
    scope: "payments:write",
    tag,
    summary: "Cancel a payment",
    description:
      "Releases an uncaptured authorization or ends an unpaid payment, which the buyer then cannot pay. A payment that is already canceled is returned unchanged. Until the processor confirms, the payment is returned unchanged; the event `authorization.canceled` reports the release of an authorization.",
    params: paymentId,
    body: NewCancellation,
    response: PaymentJson,
    errors: ["not_found", "not_cancelable", "connector_error"],
    whileSuspended: true,
    idempotent: true,
    movesMoney: true,
    handle: async ({ principal: { merchantId, environment }, params, request, reply }) => {
      const input = { merchantId, environment, paymentId: params.id, ...keyOrOwn(request) };
      const answer = await payments.cancelPayment(input);
      markReplay(reply, answer.replayed);
      return presentPayment(answer.payment);
    },
  });
}
