// Refunds as public JSON (docs/contract.md §5).
import { type Static, Type } from "typebox";
import type { RefundPaymentResponse } from "#proto/payments/v1/payments_pb.ts";
import {
  amountSchema,
  archivedSchema,
  currencySchema,
  idSchema,
  jsonComponent,
  numberOf,
  optionalField,
  textSchema,
  timeSchema,
} from "./field.ts";

export const refundStatuses = ["pending", "succeeded", "failed", "canceled"] as const;

const record = {
  id: idSchema("refund"),
  amount: amountSchema("Minor units.", 500),
  status: textSchema("`pending`, `succeeded`, `failed` or `canceled`.", "succeeded"),
  connector_ref: Type.Optional(textSchema("The refund's id at the processor.")),
  reason: Type.Optional(textSchema("Reason given when the refund was created.", "requested_by_customer")),
  failure_code: Type.Optional(textSchema("The processor's code, if the refund failed.")),
  failure_message: Type.Optional(textSchema("The processor's message, if the refund failed.")),
  created_at: timeSchema("When it was created."),
};

export const RefundJson = jsonComponent("Refund", Type.Object(record));

export const RefundItem = jsonComponent(
  "RefundItem",
  Type.Object({ ...record, payment_id: idSchema("payment"), currency: currencySchema, archived: archivedSchema }),
);

export const RefundResult = jsonComponent(
  "RefundResult",
  Type.Object({
    id: idSchema("refund"),
    payment_id: idSchema("payment"),
    refunded: amountSchema("This refund's amount, minor units.", 500),
    status: textSchema("The payment's status after the refund.", "partially_refunded"),
    connector_ref: Type.Optional(textSchema("The refund's id at the processor.")),
    refund_status: textSchema("`pending`, `succeeded`, `failed` or `canceled`.", "succeeded"),
  }),
);

export function presentRefundResult({ refund, paymentStatus }: RefundPaymentResponse): Static<typeof RefundResult> {
  if (!refund) throw new Error("the refund is missing");
  return {
    id: refund.id,
    payment_id: refund.paymentId,
    refunded: numberOf(refund.amount),
    status: paymentStatus,
    ...optionalField("connector_ref", refund.connectorRef),
    refund_status: refund.status,
  };
}
