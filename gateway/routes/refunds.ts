// Refunds: create, list of a payment, list of all (docs/contract.md §5).
import { Type } from "typebox";
import { amountSchema, enumSchema, idSchema, jsonComponent } from "../../services/public-json/field.ts";
import { presentMessage } from "../../services/public-json/present.ts";
import { presentRefundResult, RefundItem, RefundResult, refundStatuses } from "../../services/public-json/refund.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { displayText } from "../http/display-text.ts";
import { keyOrOwn, markReplay } from "../idempotency.ts";
import { archivedPageSchema, pageOf, pageQueryOf, windowOf } from "../json/parts/list.ts";
import { timeBoundQuery, timeBounds } from "../json/parts/time-bound.ts";
import { strict } from "../operation.ts";
import type { Peers } from "../peers.ts";

const tag = "Refunds";
const paymentId = Type.Object({ id: idSchema("payment", "Id of the payment.") });

const listQuery = Type.Object({
  ...pageQueryOf("refund"),
  status: Type.Optional(enumSchema(refundStatuses, "Exact match.")),
  payment_id: Type.Optional(idSchema("payment", "Only refunds of this payment.")),
  ...timeBoundQuery,
});

const NewRefund = jsonComponent(
  "NewRefund",
  Type.Object(
    {
      amount: Type.Optional(
        Type.Integer({
          ...amountSchema("Minor units; default: the full remaining balance.", 500),
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
        }),
      ),
      reason: Type.Optional(
        Type.String({
          format: displayText,
          maxLength: 255,
          description:
            "Free text. `duplicate`, `fraudulent` and `requested_by_customer` are passed to the processor as reason codes.",
          examples: ["requested_by_customer"],
        }),
      ),
    },
    strict,
  ),
);

export function refundRoutes(context: GatewayContext, { payments }: Pick<Peers, "payments">): void {
  createRefund(context, payments);
  merchantRoute(context, {
    id: "listPaymentRefunds",
    method: "GET",
    path: "/v1/payments/:id/refunds",
    scope: "payments:read",
    tag,
    summary: "List the refunds of a payment",
    description: "Newest first.",
    params: paymentId,
    query: Type.Object(pageQueryOf("refund")),
    response: archivedPageSchema(RefundItem),
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params, query }) => {
      const answer = await payments.listRefunds({ merchantId, environment, paymentId: params.id, ...windowOf(query) });
      return pageOf(
        answer.refunds.map((each) => presentMessage(RefundItem, each)),
        query,
        answer,
      );
    },
  });
  merchantRoute(context, {
    id: "listRefunds",
    method: "GET",
    path: "/v1/refunds",
    scope: "payments:read",
    tag,
    summary: "List refunds",
    description: "Newest first. `total` is exact for the filters. A `payment_id` that is not yours is `not_found`.",
    query: listQuery,
    response: archivedPageSchema(RefundItem),
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, query }) => {
      const { status = "", payment_id: paymentId = "" } = query;
      const input = { merchantId, environment, paymentId, status, ...timeBounds(query), ...windowOf(query) };
      const answer = await payments.listRefunds(input);
      return pageOf(
        answer.refunds.map((each) => presentMessage(RefundItem, each)),
        query,
        answer,
      );
    },
  });
  merchantRoute(context, {
    id: "getRefund",
    method: "GET",
    path: "/v1/refunds/:id",
    scope: "payments:read",
    tag,
    summary: "Read a refund",
    description: "A `pending` refund ends as `succeeded` or `failed`.",
    params: Type.Object({ id: idSchema("refund", "Id of the refund.") }),
    response: RefundItem,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      const { refund } = await payments.getRefund({ merchantId, environment, refundId: params.id });
      return presentMessage(RefundItem, refund);
    },
  });
}

function createRefund(context: GatewayContext, payments: Peers["payments"]): void {
  merchantRoute(context, {
    id: "createRefund",
    method: "POST",
    path: "/v1/payments/:id/refunds",
    scope: "payments:write",
    tag,
    summary: "Refund a payment",
    description: "Without an amount, refunds the full remaining balance. The body may be empty.",
    status: 201,
    params: paymentId,
    body: NewRefund,
    response: RefundResult,
    errors: ["feature_disabled", "not_found", "not_refundable", "amount_too_large", "connector_error"],
    whileSuspended: true,
    idempotent: true,
    movesMoney: true,
    handle: async ({ principal: { merchantId, environment }, params, body, request, reply }) => {
      const answer = await payments.refundPayment({
        merchantId,
        environment,
        paymentId: params.id,
        ...(body.amount !== undefined && { amount: BigInt(body.amount) }),
        reason: body.reason ?? "",
        ...keyOrOwn(request),
      });
      markReplay(reply, answer.replayed);
      return presentRefundResult(answer);
    },
  });
}
