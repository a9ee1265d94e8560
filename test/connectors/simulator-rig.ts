// A simulator with a connector to it, and a connector to an address where no server listens.
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ProcessorAccount } from "../../services/payments/connectors/connector.ts";
import { simulatorConnector } from "../../services/payments/connectors/simulator/simulator.ts";
import { secretKey, startRig, webhookSecret } from "../flows/simulator/service.ts";

const timeoutMs = 1_000; // what a lost answer is waited for
const externalAccountId = "acct_test"; // the rig's calls are made in its name
const keyLifeSeconds = 60;

export async function startSimulatorRig() {
  const rig = await startRig(undefined, { settlementSeconds: 0 });
  const connector = simulatorConnector(rig.url, rig.url, timeoutMs, keyLifeSeconds);
  const unreachable = simulatorConnector("http://127.0.0.1:9", "http://127.0.0.1:9", timeoutMs, keyLifeSeconds);
  return {
    rig,
    connector,
    unreachable,
    account: simulatorAccount(),
    /** A payment method of the account with this card. */
    token: async (number: string) => {
      const card = { number, exp_month: 12, exp_year: new Date().getUTCFullYear() + 3, cvc: "123" };
      const members = { account: externalAccountId, ...card };
      return (await rig.call<{ id: string }>("POST", "/payment-methods", members)).body.id;
    },
    stop: async () => {
      await Promise.all([connector.close(), unreachable.close()]);
      await rig.stop();
    },
  };
}

function simulatorAccount(): ProcessorAccount {
  return {
    id: newId("connector"),
    merchantId: newId("merchant"),
    environment: Environment.SANDBOX,
    connector: "simulator",
    externalAccountId,
    surface: "embedded",
    credentials: { account: externalAccountId, secret_key: secretKey, webhook_secret: webhookSecret },
    refundsEnabled: true,
  };
}
