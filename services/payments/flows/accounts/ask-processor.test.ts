import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { test } from "uvu";
import { Failure } from "#platform/values/failure.ts";
import { ConnectorService, Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ProcessorAnswer } from "../../connectors/connector.ts";
import { Accounts, provenValue } from "./ask-processor.ts";

/** Accounts of a merchant whose status the test sets, and the time that it turns. */
function accounts() {
  const merchant = { status: "active", calls: 0 };
  const transport = createRouterTransport(({ service }) => {
    service(ConnectorService, {
      getConnectorAccount: () => {
        merchant.calls++;
        const connector = {
          id: "mco_1",
          merchantId: "mer_1",
          environment: Environment.SANDBOX,
          connector: "simulator",
        };
        return { account: { connector, merchantStatus: merchant.status } };
      },
    });
  });
  return { merchant, accounts: new Accounts(createClient(ConnectorService, transport)) };
}

test("a changed account is read again after two seconds, or immediately after its event", async () => {
  const { merchant, accounts: known } = accounts();
  const monotonic = performance.now.bind(performance);
  let aheadMs = 0;
  performance.now = () => monotonic() + aheadMs;
  try {
    const status = async () => (await known.byId("mco_1")).merchantStatus;
    assert.equal(await status(), "active");
    merchant.status = "suspended";
    assert.deepEqual([await status(), merchant.calls], ["active", 1]);
    aheadMs = 2_100;
    // The cache reads the time once in a millisecond.
    await setTimeout(1);
    assert.equal(await status(), "suspended");
    merchant.status = "active";
    known.forget();
    assert.equal(await status(), "active");
  } finally {
    performance.now = monotonic;
  }
});

test("an answer without a value is CONNECTOR_ERROR", () => {
  const cause = new Error("reset");
  const answers: readonly ProcessorAnswer<unknown>[] = [
    { kind: "unknown", cause },
    { kind: "not_found", cause, at: undefined },
    { kind: "not_sent", cause },
    { kind: "declined", code: "refused", message: "no" },
  ];
  for (const answer of answers) {
    const isFailure = (error: unknown) => error instanceof Failure && error.reason === "CONNECTOR_ERROR";
    assert.throws(() => provenValue(answer), isFailure, answer.kind);
  }
});

test.run();
