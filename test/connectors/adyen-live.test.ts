// The Adyen connector against Adyen's test platform: runs where ADYEN_API_KEY and ADYEN_MERCHANT_ACCOUNT are set, and
// is left out with a clear line otherwise. It proves what a stand-in cannot: that Adyen takes our requests and answers
// in the shapes that we read. Webhooks do not reach it.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { adyenConnector } from "../../services/payments/connectors/adyen/adyen.ts";
import type { Connector, ProcessorAccount } from "../../services/payments/connectors/connector.ts";
import type { IntentOrder } from "../../services/payments/connectors/order.ts";
import { Notices } from "../../services/payments/store/processor/notices.ts";
import { freshDatabase, openDatabase } from "../harness/database.ts";
import { suite } from "../harness/suite.ts";
import { valueIn } from "./contract.ts";

const test = suite("Adyen itself", { timeoutMs: 60_000 });
const { ADYEN_API_KEY: apiKey = "", ADYEN_MERCHANT_ACCOUNT: merchantAccount = "" } = process.env;
const hasKey = apiKey !== "" && merchantAccount !== "";
const account: ProcessorAccount = {
  id: newId("connector"),
  merchantId: newId("merchant"),
  environment: Environment.SANDBOX,
  connector: "adyen",
  externalAccountId: merchantAccount,
  surface: "redirect",
  credentials: { merchant_account: merchantAccount, api_key: apiKey },
  refundsEnabled: true,
  merchantCountry: "NL",
};
let connector: Connector;
let close = async () => {};
test.before(async () => {
  if (!hasKey) return;
  const db = await openDatabase((await freshDatabase("payments")).serviceUrl);
  connector = adyenConnector("https://checkout-test.adyen.com", 20_000, new Notices(db));
  close = async () => {
    await connector.close();
    await db.close();
  };
});
test.after(() => close());

const order = (surface: string, members: Partial<IntentOrder> = {}): IntentOrder => ({
  reference: newId("payment"),
  amount: 1_050n,
  currency: "EUR",
  description: "Tollbooth's own test",
  returnUrl: "https://shop.example/return",
  surface,
  captureMethod: "automatic",
  lineItems: [],
  ...members,
});

const proofs: Readonly<Record<string, () => Promise<void>>> = {
  "the account is read, and a wrong key or account names its credential": async () => {
    const { environment, credentials } = account;
    assert.equal(valueIn(await connector.readAccount(environment, credentials)).externalAccountId, merchantAccount);
    for (const [name, value] of [
      ["api_key", `${apiKey}x`],
      ["merchant_account", "NoSuchAccountECOM"],
    ] as const) {
      const wrong = await connector.readAccount(environment, { ...credentials, [name]: value });
      assert.equal(wrong.kind === "declined" && wrong.credential?.name, name);
    }
  },
  "one key makes one payment link, which is read, ended, and then has ended": async () => {
    for (const captureMethod of ["automatic", "manual"] as const) {
      const [wanted, key] = [order("redirect", { captureMethod }), newId("operation")];
      const made = valueIn(await connector.createIntent(account, wanted, key));
      assert.equal(valueIn(await connector.createIntent(account, wanted, key)).report.ref, made.report.ref);
      assert.match(made.mount.redirectUrl, /^https:/);
      assert.deepEqual(valueIn(await connector.retrieveIntent(account, made.report.ref)).facts, []);
      assert.ok(valueIn(await connector.cancelIntent(account, made.report.ref, "release")).pageEndedAt);
      assert.ok(valueIn(await connector.cancelIntent(account, made.report.ref, "release")).pageEndedAt);
    }
  },
  "one key makes one session, with what the browser needs": async () => {
    const [wanted, key] = [order("embedded"), newId("operation")];
    const { report, mount } = valueIn(await connector.createIntent(account, wanted, key));
    assert.equal(valueIn(await connector.createIntent(account, wanted, key)).report.ref, report.ref);
    assert.ok(mount.kind === "element" && mount.clientSecret !== "" && mount.expiresAt);
  },
  "an amount is written in Adyen's units, in each currency that differs": async () => {
    for (const [currency, amount] of [
      ["CLP", 1_000n],
      ["ISK", 1_000n],
      ["IDR", 1_000_000n],
      ["KWD", 1_000n],
    ] as const) {
      const made = await connector.createIntent(account, order("redirect", { currency, amount }), newId("operation"));
      assert.equal(valueIn(made).report.amount, amount, currency);
    }
  },
  "an unknown stored card is a refusal": async () => {
    const { surface: _surface, returnUrl: _returnUrl, ...wanted } = order("redirect");
    const payment = { ...wanted, paymentMethod: "tollbooth/nothing" };
    const answer = await connector.payIntent(account, payment, newId("operation"));
    assert.equal(answer.kind === "declined" && answer.code, "unknown_payment_method");
  },
};

for (const [name, proof] of Object.entries(proofs)) {
  if (hasKey) test(name, proof);
  else test.skip(name, "ADYEN_API_KEY and ADYEN_MERCHANT_ACCOUNT are not set");
}

test.run();
