// Payments: list and read (SPEC.md §4, CONTRACT.md §5).
import { Type } from "typebox";
import { type Door, merchantRoute } from "../auth.ts";
import { idSchema } from "../json/field.ts";
import { inOrder, page, pageQuery, pageSchema } from "../json/list.ts";
import { PaymentItem, PaymentJson, presentPayment, presentPaymentItem } from "../json/payment.ts";
import { timeBoundQuery, timeBounds } from "../json/time-bound.ts";
import type { Peers } from "../peers.ts";

const tag = "Payments";

const listQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(Type.String({ maxLength: 32, description: "Exact match.", examples: ["succeeded"] })),
  ...timeBoundQuery,
  q: Type.Optional(
    Type.String({
      maxLength: 254,
      description: "Payment id (exact or prefix), part of an e-mail (any case), or the last four digits.",
      examples: ["buyer@example.com"],
    }),
  ),
  min_amount: Type.Optional(Type.Integer({ format: "int64", description: "Minor units.", examples: [100] })),
  max_amount: Type.Optional(Type.Integer({ format: "int64", description: "Minor units.", examples: [5000] })),
});

/** Adds the operations. */
export function paymentRoutes(door: Door, { payments }: Pick<Peers, "payments">): void {
  merchantRoute(
    door,
    "payments:read",
    {
      id: "listPayments",
      method: "GET",
      path: "/v1/payments",
      tag,
      summary: "List payments",
      description: "Newest first. `total` is exact within the filters.",
      status: 200,
      query: listQuery,
      response: pageSchema(PaymentItem),
      errors: ["invalid_body"],
    },
    async ({ principal: { merchantId, environment }, query }) => {
      inOrder("min_amount", query.min_amount, query.max_amount, "max_amount");
      const answer = await payments.listPayments({
        merchantId,
        environment,
        limit: query.limit,
        offset: BigInt(query.offset),
        status: query.status ?? "",
        q: query.q ?? "",
        ...timeBounds(query),
        ...(query.min_amount !== undefined && { minAmount: BigInt(query.min_amount) }),
        ...(query.max_amount !== undefined && { maxAmount: BigInt(query.max_amount) }),
      });
      return page(answer.payments.map(presentPaymentItem), query.offset, answer.total);
    },
  );
  merchantRoute(
    door,
    "payments:read",
    {
      id: "getPayment",
      method: "GET",
      path: "/v1/payments/:id",
      tag,
      summary: "Read a payment",
      description: "The full record with refunds and dispute.",
      status: 200,
      params: Type.Object({ id: idSchema("payment", "Id of the payment.") }),
      response: PaymentJson,
      errors: ["not_found"],
    },
    async ({ principal: { merchantId, environment }, params }) => {
      const { payment } = await payments.getPayment({ merchantId, environment, paymentId: params.id });
      return presentPayment(payment);
    },
  );
}
