// The simulator's webhooks: believed with its signature, made a short time ago, and about our account.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { suite } from "../../../../test/harness/suite.ts";
import type { ProcessorAccount } from "../connector.ts";
import { simulatorConnector } from "./simulator.ts";

const test = suite("the simulator's webhooks");
const nowhere = "http://127.0.0.1:9"; // nothing is asked
const connector = simulatorConnector(nowhere, nowhere, 1_000, 60);
test.after(() => connector.close());

const members = { id: "pi_1", amount: 1_000, currency: "EUR", reference: "pay_1", status: "requires_payment_method" };
const nothingYet = {
  captured_amount: 0,
  canceled_at: null,
  receipt_url: null,
  attempts: [],
  refunds: [],
  disputes: [],
};
const intent = { ...members, ...nothingYet, client_secret: "secret_1" };
const event = { id: "evt_1", type: "intent.created", account: "acct_1", created_at: "2026-11-22T10:00:00.000Z" };
const body = JSON.stringify({ ...event, data: { intent } });
const nowSeconds = () => Math.floor(Date.now() / 1_000);

function sign(secret: string, seconds = nowSeconds(), signed = body): string {
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${signed}`).digest("hex")}`;
}

/** The event in the body with this header, or the reason of its Failure. */
async function outcome(header: string | undefined, secret = "whsec_1", sent = body): Promise<string> {
  const account: ProcessorAccount = {
    id: "mco_1",
    merchantId: "mer_1",
    environment: Environment.SANDBOX,
    connector: "simulator",
    externalAccountId: "acct_1",
    surface: "embedded",
    credentials: { webhook_secret: secret },
    refundsEnabled: true,
  };
  const headers = header === undefined ? {} : { "processor-signature": header };
  try {
    const [event] = await connector.readWebhook(account, Buffer.from(sent), headers);
    return event?.report?.ref ?? "";
  } catch (error) {
    return error instanceof Error && "reason" in error ? String(error.reason) : assert.fail(String(error));
  }
}

test("accepts an event only with the account's signature over its exact bytes", async () => {
  assert.equal(await outcome(sign("whsec_1")), "pi_1");
  assert.equal(await outcome(sign("whsec_2")), "UNAUTHORIZED", "another secret");
  assert.equal(await outcome(sign("whsec_1"), "whsec_1", body.replace("pi_1", "pi_2")), "UNAUTHORIZED", "other bytes");
  const forged = sign("whsec_1").replace(/^t=\d+/, `t=${nowSeconds() - 1}`);
  for (const header of [undefined, "", "v1=", forged]) assert.equal(await outcome(header), "UNAUTHORIZED", header);
});

test("an account without a secret accepts no event", async () => {
  assert.equal(await outcome(sign(""), ""), "UNAUTHORIZED");
});

test("rejects a signature more than five minutes in the past or future", async () => {
  assert.equal(await outcome(sign("whsec_1", nowSeconds() - 240)), "pi_1");
  for (const seconds of [-310, -86_400, 310]) {
    assert.equal(await outcome(sign("whsec_1", nowSeconds() + seconds)), "UNAUTHORIZED", `${seconds} s`);
  }
});

test("rejects a signed event of another account as invalid", async () => {
  const foreign = body.replace("acct_1", "acct_2");
  for (const sent of [foreign, "{}", "busy"]) {
    assert.equal(await outcome(sign("whsec_1", nowSeconds(), sent), "whsec_1", sent), "INVALID_BODY", sent);
  }
});

test.run();
