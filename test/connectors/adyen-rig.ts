// The Adyen connector in the hands of tests: a stand-in of Adyen with one account, and a database for its notices.
import { randomBytes } from "node:crypto";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { adyenConnector } from "../../services/payments/connectors/adyen/adyen.ts";
import type { CreatedIntent, IntentReport, ProcessorAccount } from "../../services/payments/connectors/connector.ts";
import { Notices } from "../../services/payments/store/processor/notices.ts";
import type { AdyenAccount } from "../harness/adyen/adyen-account.ts";
import { FakeAdyen } from "../harness/adyen/fake-adyen.ts";
import { freshDatabase, openDatabase } from "../harness/database.ts";
import type { ConnectorRig } from "./contract.ts";

export interface AdyenRig extends ConnectorRig {
  readonly fake: FakeAdyen;
  readonly adyen: AdyenAccount;
  /** Delivers the webhooks that wait. */
  deliver(): Promise<void>;
}

const lostMs = 1_000; // a stand-in answers in a few milliseconds; this is how long a lost answer is waited for

/** A session's hour and the longest attempt that began in it. */
export const outlastedMs = 13 * 3_600_000;

export const adyenCredentials = {
  apiKey: "AQEyhmfxK4PJahZCw0m_stand_in",
  clientKey: "test_ABCDEFGHIJKLMNOP",
  hmacKey: randomBytes(32).toString("hex").toUpperCase(),
  webhookUser: "tollbooth",
  webhookPassword: "a password of the webhook",
} as const;

/** The same as the connector stores them. */
export const storedCredentials = {
  merchant_account: "LemonBooksECOM",
  api_key: adyenCredentials.apiKey,
  client_key: adyenCredentials.clientKey,
  hmac_key: adyenCredentials.hmacKey,
  webhook_user: adyenCredentials.webhookUser,
  webhook_password: adyenCredentials.webhookPassword.replaceAll(" ", "_"),
} as const;

export async function startAdyenRig(timeoutMs = lostMs): Promise<AdyenRig> {
  const fake = await new FakeAdyen().start();
  const name = storedCredentials.merchant_account;
  const adyen = fake.account(name, { ...adyenCredentials, webhookPassword: storedCredentials.webhook_password });
  const database = await freshDatabase("payments");
  const db = await openDatabase(database.serviceUrl);
  const connector = adyenConnector(fake.url, timeoutMs, new Notices(db));
  const unreachable = adyenConnector("http://127.0.0.1:9", timeoutMs, new Notices(db));
  const account: ProcessorAccount = {
    id: newId("connector"),
    merchantId: newId("merchant"),
    environment: Environment.SANDBOX,
    connector: "adyen",
    externalAccountId: name,
    surface: "embedded",
    credentials: storedCredentials,
    refundsEnabled: true,
    merchantCountry: "NL",
  };
  const deliver = async () => {
    for (const item of adyen.queue.splice(0)) {
      const { body, headers } = adyen.deliver(item);
      await connector.readWebhook(account, body, headers);
    }
  };
  const paths = {
    intent: /(?:paymentLinks|sessions)$/,
    refund: /refunds$/,
    capture: /captures$/,
    evidence: /defendDispute$/,
  };
  return {
    fake,
    adyen,
    connector,
    unreachable,
    account,
    deliver,
    wrongCredential: { name: "api_key", value: "AQEyhmfxK4PJahZCw0m_another_key" },
    last4: "1111",
    signs: "fields",
    filesGo: "with evidence",
    pay: async ({ report }: CreatedIntent, outcome) => {
      adyen.pay(report.ref, outcome === "paid" ? {} : { refused: "Refused" });
      await deliver();
    },
    settle: async () => {
      adyen.settle();
      await deliver();
    },
    tokens: async () => ({
      good: `shopper/${adyen.keepCard("shopper")}`,
      declined: `shopper/${adyen.keepCard("shopper", { refused: "Refused" })}`,
      unknown: "shopper/unknown",
    }),
    dispute: async (ref, status) => {
      const psp = pspOf(await connector.retrieveIntent(account, ref));
      const code = status === "needs_response" ? "NOTIFICATION_OF_CHARGEBACK" : "REQUEST_FOR_INFORMATION";
      const disputed = adyen.dispute(psp, code);
      await deliver();
      return disputed;
    },
    failNext: async (what, trouble) => {
      fake.failNext(paths[what], trouble === "fault" ? "500-before" : "silent-after");
    },
    endless: {
      kind: "element",
      pass: async () => {
        fake.clockOffsetMs += outlastedMs;
        await connector.readAccount(account.environment, account.credentials); // the clock comes with an answer
      },
    },
    lapse: async ({ facts }: IntentReport) => {
      const [fact] = facts;
      if (fact?.kind !== "attempt_succeeded") throw new Error("not authorized");
      adyen.later("EXPIRE", fact.attempt.ref);
      await deliver();
    },
    event: async ({ report }) => {
      await deliver();
      adyen.pay(report.ref);
      const [item] = adyen.queue.splice(0);
      if (!item) throw new Error("no webhook");
      return adyen.deliver(item);
    },
    stop: async () => {
      await Promise.all([connector.close(), unreachable.close()]);
      await db.close();
      await fake.stop();
    },
  };
}

function pspOf(answer: Awaited<ReturnType<AdyenRig["connector"]["retrieveIntent"]>>): string {
  const fact =
    answer.kind === "succeeded" ? answer.value.facts.find(({ kind }) => kind === "attempt_succeeded") : undefined;
  if (fact?.kind !== "attempt_succeeded") throw new Error("not paid");
  return fact.attempt.ref;
}
