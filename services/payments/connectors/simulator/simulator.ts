// Connector to the card-processor simulator: its HTTP API and its signed webhooks.
import { createHmac, randomUUID } from "node:crypto";
import { sameSecret } from "#platform/secrets/vault.ts";
import { clockMs } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Connector, CreatedIntent, Mount, ProcessorAccount, ProcessorEvent } from "../connector.ts";
import { type CredentialForms, judgeForms } from "../credential-forms.ts";
import { ProcessorHttp } from "../http.ts";
import type { IntentOrder } from "../order.ts";
import { commandAnswer, queryAnswer, refundAnswer, searchAnswer, simulatorFailureNames } from "./answers.ts";
import { type Get, simulatorBalance } from "./balance.ts";
import { simulatorMethods } from "./methods.ts";
import {
  parseEvent,
  readDispute,
  readEventPage,
  readIntent,
  readRefund,
  readStatementPage,
  SimulatorDispute,
  SimulatorFile,
  SimulatorIntent,
  SimulatorList,
  SimulatorRefund,
} from "./objects.ts";

// An older signature is a replay (Stripe's tolerance).
const signatureToleranceSeconds = 300;

/**
 * @param origin the processor's API
 * @param formOrigin of its card forms, for the buyer's browser
 * @param timeoutMs for one call
 * @param keyLifeSeconds how long the simulator keeps idempotency keys
 */
export function simulatorConnector(
  origin: string,
  formOrigin: string,
  timeoutMs: number,
  keyLifeSeconds: number,
): Connector {
  const http = new ProcessorHttp(origin, timeoutMs);
  const get = (account: ProcessorAccount, path: string) => http.call({ method: "GET", path, headers: authOf(account) });
  const post = (account: ProcessorAccount, path: string, json: unknown, key: string) =>
    http.call({ method: "POST", path, headers: { ...authOf(account), "idempotency-key": key }, json });
  const created =
    (surface: string) =>
    (body: unknown): CreatedIntent => {
      const intent = SimulatorIntent.parse(body);
      return { report: readIntent(intent), mount: mountOf(formOrigin, surface, intent) };
    };
  return {
    name: "simulator",
    surfaces: ["embedded", "hosted", "redirect"],
    // No card is charged, so it must not serve live payments.
    environments: [Environment.SANDBOX],
    keyLifeSeconds,
    failureNames: simulatorFailureNames,
    methods: simulatorMethods,
    balance: simulatorBalance(get),
    capturesLater: true,
    processorTime: () => http.time(),
    refusesAmount: () => undefined,
    judgeCredentials: (_environment, credentials) => judgeForms(credentialForms, credentials),
    // The simulator opens any named account, so an empty search shows whether it accepts the key.
    readAccount: async (_environment, credentials) => {
      const path = "/api/intents?reference=pay_nothing";
      const answer = await http.call({ method: "GET", path, headers: auth(credentials, credentials.account ?? "") });
      if (answer.kind === "answered" && (answer.status === 401 || answer.status === 403)) {
        return { kind: "declined", code: "refused", message: "the processor rejects these credentials" };
      }
      const externalAccountId = credentials.account ?? "";
      const known = { externalAccountId, displayName: "Simulator", country: "", canCharge: true };
      return queryAnswer(answer, (body) => SimulatorList.parse(body) && known);
    },
    createIntent: async (account, order, key) => {
      const json = {
        amount: Number(order.amount),
        currency: order.currency,
        reference: order.reference,
        description: order.description,
        ...captureParams(order),
        ...(order.methods && { payment_methods: order.methods }),
        ...(order.returnUrl ? { return_url: order.returnUrl } : {}),
        ...(order.renewal && { renewal: order.renewal }),
        ...(order.lineItems.length > 0 && {
          line_items: order.lineItems.map((line) => ({ ...line, amount: Number(line.amount) })),
        }),
      };
      return commandAnswer(await post(account, "/api/intents", json, key), created(order.surface));
    },
    payIntent: async (account, order, key) => {
      const { reference, currency, description, paymentMethod } = order;
      const amount = Number(order.amount);
      const json = { amount, currency, reference, description, payment_method: paymentMethod, ...captureParams(order) };
      return commandAnswer(await post(account, "/api/intents", json, key), toReport);
    },
    findIntent: async (account, { reference, surface, renewal = 0 }) =>
      searchAnswer(
        await get(account, `/api/intents?reference=${encodeURIComponent(reference)}`),
        created(surface),
        (body) => (SimulatorIntent.parse(body).renewal ?? 0) === renewal,
      ),
    retrieveIntent: async (account, ref) =>
      queryAnswer(await get(account, `/api/intents/${encodeURIComponent(ref)}`), toReport),
    ...endings(post),
    createRefund: async (account, order, key) => {
      const { intentRef: intent, reason, reference } = order;
      const json = { intent, amount: Number(order.amount), reason, reference };
      return refundAnswer(commandAnswer(await post(account, "/api/refunds", json, key), toRefund));
    },
    findRefund: async (account, { intentRef, reference }) => {
      const answer = await get(account, `/api/refunds?reference=${encodeURIComponent(reference)}`);
      return searchAnswer(answer, toRefund, (body) => membersOf(body).intent === intentRef);
    },
    retrieveDispute: async (account, ref) => queryAnswer(await get(account, disputePath(ref)), toDispute),
    uploadFile: async (account, { type, size: length, pieces }, key) => {
      const headers = { ...authOf(account), "idempotency-key": key };
      const sent = await http.call({ method: "POST", path: "/api/files", headers, bytes: { type, length, pieces } });
      return commandAnswer(sent, (body) => SimulatorFile.parse(body).id);
    },
    ...responses(post),
    ...lists(get),
    readWebhook: async (account, body, headers) => [readEvent(account, body, headers)],
    close: () => http.close(),
  };
}

type Post = (account: ProcessorAccount, path: string, json: unknown, key: string) => ReturnType<ProcessorHttp["call"]>;

function lists(get: Get): Pick<Connector, "readStatement" | "readEvents"> {
  return {
    readStatement: async (account, { from, to }, after) => {
      const query = new URLSearchParams({ from: from.toISOString(), to: to.toISOString(), limit: "500" });
      if (after !== "") query.set("after", after);
      return queryAnswer(await get(account, `/api/statement?${query}`), readStatementPage);
    },
    readEvents: async (account, since, after) => {
      const query = new URLSearchParams({ limit: "500" }); // the processor shortens pages that would be too long
      if (since) query.set("since", since.toISOString());
      if (after !== "") query.set("after", after);
      const answer = await get(account, `/api/events?${query}`);
      return queryAnswer(answer, (body) => readEventPage(body, account.externalAccountId));
    },
  };
}

function endings(post: Post): Pick<Connector, "captureIntent" | "cancelIntent"> {
  return {
    captureIntent: async (account, { intentRef, amount }, key) => {
      const path = `/api/intents/${encodeURIComponent(intentRef)}/capture`;
      return commandAnswer(await post(account, path, { amount: Number(amount) }, key), toReport);
    },
    // A cancellation may be repeated. Under a lasting key the processor would always repeat its first answer, also a
    // stored error or a refusal while the intent was processing.
    cancelIntent: async (account, ref, authorized) => {
      const path = `/api/intents/${encodeURIComponent(ref)}/cancel`;
      return commandAnswer(await post(account, path, { authorized }, randomUUID()), toReport);
    },
  };
}

function responses(post: Post): Pick<Connector, "submitEvidence" | "acceptDispute"> {
  return {
    submitEvidence: async (account, { disputeRef, reference, texts, files }, key) => {
      const json = { reference, ...texts, ...files };
      const answer = commandAnswer(await post(account, `${disputePath(disputeRef)}/evidence`, json, key), toDispute);
      // An unknown dispute takes no evidence either.
      return answer.kind === "declined" && answer.code === "refused" ? { ...answer, code: "not_answerable" } : answer;
    },
    // May be repeated, like a cancellation.
    acceptDispute: async (account, ref) =>
      commandAnswer(await post(account, `${disputePath(ref)}/accept`, {}, randomUUID()), toDispute),
  };
}

/** Automatic capture is the default of every simulator release. */
function captureParams({ captureMethod }: Pick<IntentOrder, "captureMethod">) {
  return captureMethod === "manual" ? { capture_method: captureMethod } : {};
}

const toReport = (body: unknown) => readIntent(SimulatorIntent.parse(body));
const toDispute = (body: unknown) => readDispute(SimulatorDispute.parse(body));
const disputePath = (ref: string) => `/api/disputes/${encodeURIComponent(ref)}`;
const toRefund = (body: unknown) => readRefund(SimulatorRefund.parse(body));

function authOf(account: ProcessorAccount): Record<string, string> {
  return auth(account.credentials, account.externalAccountId);
}

function auth(credentials: ProcessorAccount["credentials"], externalAccountId: string): Record<string, string> {
  return { authorization: `Bearer ${credentials.secret_key ?? ""}`, "processor-account": externalAccountId };
}

const credentialForms: CredentialForms = {
  account: [/^acct_[A-Za-z0-9]{1,64}$/, "must be the account's name, acct_…"],
  secret_key: [/^\S{1,255}$/, "is required"],
  webhook_secret: [/^\S{1,255}$/, "is required"],
};

function mountOf(
  origin: string,
  surface: string,
  { id, client_secret: clientSecret, page_expires_at: end }: ReturnType<typeof SimulatorIntent.parse>,
): Mount {
  const page = `${origin}/form/${id}#${clientSecret}`;
  return {
    kind: surface === "redirect" ? "redirect" : "frame",
    publishableKey: "",
    clientSecret,
    scriptUrl: "",
    frameUrl: surface === "redirect" ? "" : page,
    redirectUrl: surface === "redirect" ? page : "",
    ...(end && { expiresAt: new Date(end) }),
  };
}

function readEvent(
  account: ProcessorAccount,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
): ProcessorEvent {
  verifySignature(account.credentials.webhook_secret ?? "", body, headers["processor-signature"] ?? "");
  try {
    return parseEvent(JSON.parse(Buffer.from(body).toString("utf8")), account.externalAccountId);
  } catch (cause) {
    throw new Failure("INVALID_BODY", { cause });
  }
}

function verifySignature(secret: string, body: Uint8Array, header: string): void {
  const [, t = "", v1 = ""] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const wanted = createHmac("sha256", secret).update(`${t}.`).update(body).digest("hex");
  const age = Math.abs(clockMs() / 1_000 - Number(t));
  if (secret === "" || !sameSecret(wanted, v1) || age > signatureToleranceSeconds) throw new Failure("UNAUTHORIZED");
}
