import assert from "node:assert/strict";
import { create, toBinary } from "@bufbuild/protobuf";
import { test } from "uvu";
import { Vault } from "#platform/secrets/vault.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { RenderSchema } from "#proto/payments/v1/payments_pb.ts";
import type { SessionStatus } from "../rules/session.ts";
import type { StoredSession } from "../store/sessions.ts";
import { openedRender, renderOf, sealRender } from "./session-secret.ts";

const vault = new Vault(new Map([["k1", Buffer.alloc(32, 1)]]));
const render = create(RenderSchema, { clientSecret: "pi_1_secret_2", connector: "simulator" });

function session(status: SessionStatus, expiryRequested: boolean): StoredSession {
  const id = newId("session");
  const silent = { receiptUrl: "", capturedAmount: undefined, paymentVersion: 0n, paymentEventAt: undefined };
  const state = { status, ...silent, paymentStatus: "", failedAttempts: 0 };
  const order = {
    amount: 1n,
    currency: "EUR",
    description: "",
    orderReference: "",
    customerEmail: "",
    metadata: {},
    connector: "simulator",
  };
  const page = {
    surface: "embedded",
    captureMethod: "automatic",
    successUrl: "",
    cancelUrl: "",
    locale: "",
    paymentLinkId: "",
    lineItems: [],
    secretHash: { keyId: "", hash: Buffer.alloc(32) },
  };
  return {
    ...{ id, merchantId: "mer_1", environment: Environment.SANDBOX, createdAt: new Date(0), expiresAt: new Date(1) },
    ...{ ...order, ...page, state, expiryRequested, completedAt: undefined, version: 1, emailTurn: 0 },
    render: sealRender(vault, id, toBinary(RenderSchema, render)),
  };
}

test("returns a render only for an open session that its merchant has not ended", () => {
  assert.equal(renderOf(vault, session("open", false))?.clientSecret, "pi_1_secret_2");
  assert.equal(renderOf(vault, session("open", true)), undefined);
  for (const status of ["processing", "completed", "expired", "canceled"] as const) {
    assert.equal(renderOf(vault, session(status, false)), undefined, status);
  }
});

test("opens a render for its own session only", () => {
  const [mine, other] = [session("open", false), session("open", false)];
  assert.throws(() => openedRender(vault, { ...mine, render: other.render }));
  assert.equal(openedRender(vault, { ...mine, render: undefined }), undefined);
});

test.run();
