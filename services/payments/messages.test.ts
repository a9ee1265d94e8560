import assert from "node:assert/strict";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ListedPaymentSchema, PaymentSchema } from "#proto/payments/v1/payments_pb.ts";
import { suite } from "../../test/harness/suite.ts";

const test = suite("messages of payments");

test("a listed payment decodes as a full payment, which the previous release expects", () => {
  const fields = {
    id: "pay_1",
    merchantId: "mer_1",
    amount: 1050n,
    feeAmount: 60n,
    refundedAmount: 5n,
    currency: "EUR",
    status: "succeeded",
    connector: "simulator",
    customerEmail: "buyer@example.com",
    authorizedAt: timestampFromMs(1_000),
    capturedAt: timestampFromMs(1_500),
    createdAt: timestampFromMs(2_000),
    card: { brand: "visa", last4: "4242", funding: "credit" },
    orderReference: "1001",
    captureMethod: "manual",
    capturedAmount: 1000n,
    netAmount: 935n,
    method: { type: "card", wallet: "apple_pay" },
    updatedAt: timestampFromMs(2_500),
  };
  assert.deepEqual(Object.keys(fields).sort(), ListedPaymentSchema.fields.map(({ localName }) => localName).sort());
  const listed = toBinary(ListedPaymentSchema, create(ListedPaymentSchema, fields));
  assert.deepEqual(fromBinary(PaymentSchema, listed), create(PaymentSchema, fields));
});

test.run();
