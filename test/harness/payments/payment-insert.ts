// The stored form of a new payment with its first operation, for tests that write it without the service.
import { type Id, newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { NewPayment, PaymentInsert } from "../../../services/payments/store/new-payments.ts";
import { firstTry, type Operation } from "../../../services/payments/store/operations.ts";

type PaymentChange = Partial<Omit<NewPayment, "id">> & { readonly id?: Id<"payment"> };
type WholeInsert = PaymentInsert & { readonly payment: { readonly id: Id<"payment"> }; readonly operation: Operation };

/** 10.00 EUR of a session at the simulator. Its operation and its check are due after `seconds`. */
export function paymentInsert(change: PaymentChange = {}, seconds = 0, operationId?: string): WholeInsert {
  const id: Id<"payment"> = change.id ?? newId("payment");
  const payment = {
    id,
    merchantId: "mer_test",
    environment: Environment.SANDBOX,
    sessionId: newId("session"),
    amount: 1_000n,
    currency: "EUR",
    description: "",
    orderReference: "",
    customerEmail: "",
    metadata: {},
    connector: "simulator",
    connectorAccountId: "mco_test",
    surface: "embedded",
    captureMethod: "automatic",
    expiresAt: new Date(Date.now() + 3_600_000),
    ...change,
  } as const;
  const operation = firstTry(operationId ?? newId("operation"), "create_intent", id, undefined);
  return { payment, operation, operationSeconds: seconds, checkSeconds: seconds };
}
