// Connector to Adyen: sessions, payment links, and payments with stored cards. Adyen's payments cannot be read, so a
// log of its answers and verified webhooks answers every question; what it does not contain is unknown, never absent.
import { isId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Connector, ProcessorAccount, ProcessorEvent } from "../connector.ts";
import { type CredentialForms, judgeForms } from "../credential-forms.ts";
import type { NoticeLog } from "../notice-log.ts";
import { toAdyen } from "./amount.ts";
import { AdyenClient, queryAnswer, rejectedCredential } from "./client.ts";
import { adyenDisputes } from "./dispute-calls.ts";
import { adyenFailureNames } from "./failure-names.ts";
import { redirectFinisher } from "./finish-redirect.ts";
import { intentRefOf } from "./intent.ts";
import { adyenIntents } from "./intent-calls.ts";
import { adyenModifications } from "./modifications.ts";
import { AnswerLog } from "./notices.ts";
import { payWithToken } from "./token-payments.ts";
import { noticeOf, readItems, type WebhookItem } from "./webhook.ts";

// Adyen keeps keys for at least seven days: https://docs.adyen.com/development-resources/api-idempotency
const keyLifeSeconds = 604_800;

/** @param origin of the API for test accounts; a stand-in's also gets live calls. @param timeoutMs for one HTTP call */
export function adyenConnector(origin: string, timeoutMs: number, notices: NoticeLog): Connector {
  const client = new AdyenClient(origin, timeoutMs);
  const log = new AnswerLog(notices, client);
  const { release, ...modifications } = adyenModifications(client, log);
  const intents = adyenIntents(client, log, release);
  return {
    name: "adyen",
    surfaces: ["embedded", "redirect"],
    environments: [Environment.SANDBOX, Environment.LIVE],
    keyLifeSeconds,
    replaysAnswers: true,
    failureNames: adyenFailureNames,
    methods: [{ type: "card", currencies: [], refund: "partial", delayed: false, disputes: true, manualCapture: true }],
    capturesLater: true,
    processorTime: () => client.time(),
    refusesAmount: (amount, currency) => {
      const written = toAdyen(amount, currency);
      return typeof written === "number" ? undefined : written.refused;
    },
    judgeCredentials: (environment, credentials) => judgeForms(credentialForms(environment), credentials),
    readAccount: async (environment, credentials) => {
      const externalAccountId = credentials.merchant_account ?? "";
      const call = { method: "POST", path: "/paymentMethods", json: { merchantAccount: externalAccountId } } as const;
      const answer = await client.call(environment, credentials, call);
      const credential = rejectedCredential(answer);
      if (credential) return { kind: "declined", code: "refused", message: credential.problem, credential };
      const report = { externalAccountId, displayName: externalAccountId, country: "", canCharge: true };
      return queryAnswer(answer, () => report);
    },
    ...intents,
    finishRedirect: redirectFinisher(client, log, intents.retrieveIntent),
    payIntent: (account, order, key) => payWithToken(client, log, account, order, key),
    ...modifications,
    ...adyenDisputes(client, log),
    readWebhook: async (account, body, headers) => {
      const events: ProcessorEvent[] = [];
      for (const item of readItems(account, body, headers)) events.push(await eventOf(log, account, item));
      return events;
    },
    close: () => client.close(),
  };
}

/** Stores the item and names the intent to report; an item about none of our payments is not stored. */
async function eventOf(log: AnswerLog, account: ProcessorAccount, item: WebhookItem): Promise<ProcessorEvent> {
  const notice = noticeOf(item);
  const { externalAccountId, environment } = account;
  const event = {
    id: `${environment}/${externalAccountId}/${notice.id}`,
    createdAt: notice.at,
    type: notice.kind,
    report: undefined,
  };
  const about = await log.about(account, notice.originalRef || notice.ref);
  if (!isOurs(notice.reference) && about.length === 0) return { ...event, intentRef: "" };
  await log.keep(account, notice);
  const known = await log.about(account, notice.ref);
  const isAttempt = (id: string) => known.some(({ kind, ref }) => kind === "AUTHORISATION" && ref === id);
  const attemptRef = known
    .filter(({ ref }) => ref === notice.ref)
    .flatMap(({ ref, originalRef }) => [originalRef, ref])
    .find(isAttempt);
  return { ...event, intentRef: attemptRef === undefined ? "" : intentRefOf(known, attemptRef) };
}

/** Payments, refunds, and refunds of unexpected funds carry our ids. */
function isOurs(written: string): boolean {
  const [id = ""] = written.split("/");
  return isId("payment", id) || isId("refund", id) || isId("suspense", id);
}

/** https://docs.adyen.com/development-resources/live-endpoints: live addresses begin with the company's prefix. */
function credentialForms(environment: Environment): CredentialForms {
  const isLive = environment === Environment.LIVE;
  const mode = isLive ? "live" : "test";
  const prefix: CredentialForms = {
    live_prefix: [/^[0-9A-Za-z]{1,40}-[0-9A-Za-z]{1,60}$/, "must be the prefix of your live URLs, without https://"],
  };
  return {
    merchant_account: [/^[A-Za-z0-9_-]{1,80}$/, "must be the name of a merchant account"],
    api_key: [/^\S{20,512}$/, "must be an API key of Adyen"],
    client_key: [new RegExp(`^${mode}_[A-Za-z0-9]{10,100}$`), `must begin with ${mode}_`],
    hmac_key: [
      /^[0-9A-Fa-f]{64}(?:,[0-9A-Fa-f]{64})?$/,
      "must be 64 hexadecimal digits, or two such keys, separated by a comma, during a rotation",
    ],
    webhook_user: [/^[^\s:]{1,255}$/, "must be the user name of the webhook, without a colon"],
    webhook_password: [/^\S{8,255}$/, "must be the password of the webhook, at least 8 characters"],
    ...(isLive ? prefix : {}),
  };
}
