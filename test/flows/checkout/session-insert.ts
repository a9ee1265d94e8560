// The stored form of a new open session, for tests that write it without the service.
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";

/** 10.00 EUR, open for an hour. */
export function sessionInsert() {
  const session = {
    id: newId("session"),
    merchantId: "mer_test",
    environment: Environment.SANDBOX,
    amount: 1_000n,
    currency: "EUR",
    description: "",
    orderReference: "",
    customerEmail: "",
    metadata: {},
    connector: "simulator",
    surface: "embedded",
    captureMethod: "automatic",
    successUrl: "",
    cancelUrl: "",
    locale: "",
    paymentLinkId: "",
    lineItems: [],
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 3_600_000),
  };
  const secretHash = { keyId: "", hash: Buffer.alloc(32) };
  const events = { ids: [], subjects: [], bodies: [] };
  return { session, secretHash, render: Buffer.of(1), events, results: [] };
}
