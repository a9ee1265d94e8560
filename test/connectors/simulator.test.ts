// The simulator connector against the simulator: the contract of every connector.
import { createHmac } from "node:crypto";
import { newId } from "#platform/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Account, CreatedIntent } from "../../services/payments/connectors/connector.ts";
import { simulatorConnector } from "../../services/payments/connectors/simulator.ts";
import { secretKey, startRig, webhookSecret } from "../flows/simulator-service.ts";
import { cards, pay } from "../harness/pay.ts";
import { type ConnectorRig, connectorContract } from "./contract.ts";

const timeoutMs = 1_000; // what a lost answer is waited for
const externalAccountId = "acct_test"; // the rig's calls are made in its name

connectorContract("simulator", async (): Promise<ConnectorRig> => {
  const rig = await startRig();
  const connector = simulatorConnector(rig.url, rig.url, timeoutMs, 60);
  const unreachable = simulatorConnector("http://127.0.0.1:9", "http://127.0.0.1:9", timeoutMs, 60);
  const account: Account = {
    id: newId("connector"),
    merchantId: newId("merchant"),
    environment: Environment.SANDBOX,
    connector: "simulator",
    externalAccountId,
    surface: "embedded",
    credentials: { account: externalAccountId, secret_key: secretKey, webhook_secret: webhookSecret },
    refundsEnabled: true,
  };
  const token = async (card: string) =>
    (await rig.call<{ id: string }>("POST", "/payment-methods", { account: externalAccountId, ...cardOf(card) })).body
      .id;
  return {
    connector,
    unreachable,
    account,
    pay: async ({ mount }: CreatedIntent, outcome) => {
      await pay(mount.frameUrl || mount.redirectUrl, outcome === "paid" ? cards.succeeds : cards.declined);
    },
    tokens: async () => ({
      good: await token(cards.succeeds),
      declined: await token(cards.declined),
      unknown: "pm_unknown",
    }),
    failNext: async (what, trouble) => {
      const kind = trouble === "fault" ? "error_before" : "hang_after";
      const target = what === "intent" ? "api.intents.create" : "api.refunds.create";
      await rig.call("PUT", "/test/faults", { target, kind, count: 1 });
    },
    event: async ({ report }, at) => {
      const { body: intent } = await rig.call("GET", `/api/intents/${report.ref}`);
      const event = { id: `evt_${report.ref}`, type: "intent.updated", account: externalAccountId, data: { intent } };
      const body = Buffer.from(JSON.stringify(event));
      const signature = createHmac("sha256", webhookSecret).update(`${at}.`).update(body).digest("hex");
      return { body, headers: { "processor-signature": `t=${at},v1=${signature}` } };
    },
    stop: async () => {
      await Promise.all([connector.close(), unreachable.close()]);
      await rig.stop();
    },
  };
});

function cardOf(number: string): Record<string, unknown> {
  return { number, exp_month: 12, exp_year: new Date().getUTCFullYear() + 3, cvc: "123" };
}
