// The simulator is for the sandbox only: payments, the merchant service and the database each refuse a live account.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { connectPeer } from "#platform/rpc/client.ts";
import { newId } from "#platform/values/id.ts";
import { ConnectorService, Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { ConnectorAccountService } from "#proto/payments/v1/payments_pb.ts";
import { freshDatabase, inDatabase } from "../../harness/database.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";

const test = suite("the simulator is for the sandbox", { timeoutMs: 30_000 });
const services = fixture(test, () => startMoneyServices({ knowsSimulator: false }));

test("payments refuses to add the simulator as a live account", async () => {
  const money = await startMoneyServices();
  const peer = connectPeer({ url: money.urls.payments, token: money.settings.RPC_TOKEN });
  try {
    const { merchantId, processorSecrets: credentials } = money;
    const accounts = peer.client(ConnectorAccountService);
    const added = { merchantId, connector: "simulator", credentials, makeDefault: true };
    const live = accounts.addConnectorAccount({ ...added, environment: Environment.LIVE });
    await assert.rejects(live, isRefusal("CONNECTOR_NOT_ELIGIBLE"));
    const { connector } = await accounts.addConnectorAccount({ ...added, environment: Environment.SANDBOX });
    assert.equal(connector?.connector, "simulator", "the sandbox accepts the same account");
  } finally {
    peer.close();
    await money.stop();
  }
});

test("the merchant service refuses a live account of the simulator", async () => {
  const peer = connectPeer({ url: services.urls.merchant, token: services.settings.RPC_TOKEN });
  try {
    const account = {
      merchantId: services.merchantId,
      connector: "simulator",
      externalAccountId: "acct_live",
      credentials: { secret_key: "sim_sk_x" },
      surfaces: ["embedded"],
      makeDefault: true,
    };
    const save = (environment: Environment) =>
      peer.client(ConnectorService).saveConnectorAccount({ ...account, environment });
    await assert.rejects(save(Environment.LIVE), isRefusal("CONNECTOR_NOT_ELIGIBLE"));
    assert.equal((await save(Environment.SANDBOX)).connector?.isDefault, true);
  } finally {
    peer.close();
  }
});

test("without the simulator's address payments has no connector for it", async () => {
  const { merchantId } = services;
  const paymentId = newId("payment");
  const expiresAt = timestampFromDate(new Date(Date.now() + 3_600_000));
  const order = { paymentId, merchantId, environment: Environment.SANDBOX, amount: 1_000n, currency: "EUR" };
  const sessionId = `cs_${paymentId.slice(4)}`;
  await assert.rejects(services.payments.createIntent({ ...order, sessionId, expiresAt }), isRefusal("NO_CONNECTOR"));
  const direct = services.payments.createPayment({ ...order, paymentMethod: "pm_card" });
  await assert.rejects(direct, isRefusal("NO_CONNECTOR"));
});

test("the database refuses a live account of the simulator", async () => {
  const { url } = await freshDatabase("merchant");
  const merchant = newId("merchant");
  await inDatabase(
    url,
    `insert into merchants (id, name, status, country, currency, email)
     values ('${merchant}', 'Shop', 'active', 'DE', 'EUR', 'shop@example.com')`,
  );
  const add = (environment: Environment) =>
    inDatabase(
      url,
      `insert into connectors (id, merchant_id, environment, connector, is_primary, is_active, can_be_primary, allowed_surfaces,
         default_surface, external_account_id, credentials)
       values ('${newId("connector")}', '${merchant}', ${environment}, 'simulator', true, true, true, '{embedded}', 'embedded', 'acct', '')`,
    );
  await add(Environment.SANDBOX);
  await assert.rejects(add(Environment.LIVE), { constraint: "connectors_simulator_in_sandbox" });
});

test.run();
