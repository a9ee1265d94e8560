// Stripe's HTTP API as far as the connector uses it, for tests: forms, keys, idempotency with replay, errors, lists, search, signed
// webhooks. Every request is checked against the SDK's published parameter names and enums; what does not fit is refused.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import Stripe from "stripe";
import { type FakeIntent, type Json, now, StripeAccount } from "./stripe-account.ts";
import { type FormObject, misfits, parseForm } from "./stripe-form.ts";

/** How the next request on a path goes wrong. `silent`: it is done, and no answer comes. */
export type StripeFault = "500" | "429" | "409" | "lock_timeout" | "silent" | "cut" | "not json";

interface Refusal {
  readonly status: number;
  readonly error: Json;
}
interface Call {
  readonly account: StripeAccount;
  readonly params: FormObject;
  /** The part of the path that names an object. */
  readonly id: string;
}
type Handler = (call: Call) => Json;

const idle = Symbol("in flight");

export class FakeStripe {
  readonly #accounts = new Map<string, StripeAccount>();
  readonly #answers = new Map<string, { fingerprint: string; status: number; body: Json } | typeof idle>();
  readonly #faults: { method: string; path: RegExp; fault: StripeFault }[] = [];
  /** Method, path and idempotency key of every request that was taken. */
  readonly requests: { method: string; path: string; key: string; form: FormObject }[] = [];
  /** Requests that Stripe's published types do not allow; a test that has some fails. */
  readonly complaints: string[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  url = "";

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    this.url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
    return this;
  }

  async stop(): Promise<void> {
    if (this.complaints.length > 0) throw new Error(this.complaints.join("\n"));
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  account(id: string, secretKey: string): StripeAccount {
    const account = new StripeAccount(id, secretKey);
    this.#accounts.set(secretKey, account);
    return account;
  }

  /** The next request of this kind goes wrong. */
  failNext(method: "GET" | "POST", path: RegExp, fault: StripeFault): void {
    this.#faults.push({ method, path, fault });
  }

  /** Stripe forgets keys after a day. */
  forgetKeys(): void {
    this.#answers.clear();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const url = new URL(request.url ?? "/", this.url);
    const text = request.method === "POST" ? Buffer.concat(chunks).toString() : url.search.slice(1);
    const [method = "", path] = [request.method, url.pathname];
    const key = String(request.headers["idempotency-key"] ?? "");
    const form = parseForm(text);
    this.requests.push({ method, path, key, form });
    const index = this.#faults.findIndex((each) => each.method === method && each.path.test(path));
    const [planned] = index < 0 ? [] : this.#faults.splice(index, 1);
    if (planned?.fault === "cut") return void request.socket.destroy();
    if (planned?.fault === "429") return send(response, refusal(429, "invalid_request_error", "rate_limit"));
    if (planned?.fault === "lock_timeout") return send(response, refusal(429, "invalid_request_error", "lock_timeout"));
    if (planned?.fault === "409") return send(response, refusal(409, "idempotency_error", "idempotency_key_in_use"));
    const answer = this.#once(request, method, path, key, form, text, planned?.fault === "500");
    if (planned?.fault === "silent") return;
    if (planned?.fault === "not json") return void response.writeHead(502).end("<html>");
    send(response, answer);
  }

  /** Answers a key's repeats with what its first request got, also a fault. */
  #once(
    request: IncomingMessage,
    method: string,
    path: string,
    key: string,
    form: FormObject,
    text: string,
    breaks: boolean,
  ): { status: number; body: Json } {
    const bearer = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const account = this.#accounts.get(bearer);
    if (!account) return refusal(401, "invalid_request_error", "");
    if (request.headers["stripe-version"] !== Stripe.API_VERSION)
      return refusal(400, "invalid_request_error", "version");
    if (method !== "POST") return this.#run(method, path, { account, params: form, id: "" });
    if (key === "") return refusal(400, "invalid_request_error", "no idempotency key");
    const scoped = `${account.id}/${key}`;
    const fingerprint = `${path}?${text}`;
    const known = this.#answers.get(scoped);
    if (known === idle) return refusal(409, "idempotency_error", "idempotency_key_in_use");
    if (known) return known.fingerprint === fingerprint ? known : refusal(400, "idempotency_error", "");
    const answer = breaks ? refusal(500, "api_error", "") : this.#run(method, path, { account, params: form, id: "" });
    // Requests that were refused before their work began are not kept.
    if (answer.status < 400 || answer.status === 402 || answer.status >= 500) {
      this.#answers.set(scoped, { fingerprint, ...answer });
    }
    return answer;
  }

  #run(method: string, path: string, call: Call): { status: number; body: Json } {
    for (const [pattern, file, type, handler] of routes) {
      const match = new RegExp(`^${pattern.replace("{id}", "([\\w]+)")}$`).exec(`${method} ${path}`);
      if (!match) continue;
      const wrong = misfits(call.params, file, type);
      if (wrong.length > 0) {
        this.complaints.push(`${method} ${path}: ${wrong.join("; ")}`);
        return refusal(400, "invalid_request_error", "parameter_unknown");
      }
      try {
        return { status: 200, body: structuredClone(handler({ ...call, id: match[1] ?? "" })) };
      } catch (error) {
        if (isRefusal(error)) return { status: error.status, body: { error: error.error } };
        throw error;
      }
    }
    return refusal(404, "invalid_request_error", "resource_missing");
  }
}

/** A body and the header that Stripe would send with it, signed by the SDK's own test helper. */
export function signed(event: Json, secret: string, atSeconds = now()): { body: string; header: string } {
  const body = JSON.stringify(event);
  const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: atSeconds });
  return { body, header };
}

function send(response: ServerResponse, { status, body }: { status: number; body: Json }): void {
  response
    .writeHead(status, { "content-type": "application/json", "request-id": "req_fake" })
    .end(JSON.stringify(body));
}

function refusal(status: number, type: string, code: string): { status: number; body: Json } {
  return { status, body: { error: { type, code, message: `refused: ${code || type}` } } };
}

function refuse(status: number, error: Json): never {
  throw { status, error: { type: "invalid_request_error", message: "refused", ...error } } satisfies Refusal;
}

function isRefusal(error: unknown): error is Refusal {
  return typeof error === "object" && error !== null && "status" in error && "error" in error;
}

const missing = () => refuse(404, { code: "resource_missing" });
const intentOf = ({ account, id }: Call) => account.intents.get(id) ?? missing();
const sessionOf = ({ account, id }: Call) => account.sessions.get(id) ?? missing();

const smallest = 50; // Stripe's least amount in most currencies

const routes: readonly (readonly [pattern: string, file: string, params: string, handler: Handler])[] = [
  [
    "GET /v1/account",
    "Accounts.d.ts",
    "AccountRetrieveCurrentParams",
    ({ account }) => ({
      id: account.id,
      object: "account",
      country: "DE",
      charges_enabled: account.chargesEnabled,
      settings: { dashboard: { display_name: "Lemon Books" } },
    }),
  ],
  ["POST /v1/payment_intents", "PaymentIntents.d.ts", "PaymentIntentCreateParams", createIntent],
  [
    "GET /v1/payment_intents",
    "PaymentIntents.d.ts",
    "PaymentIntentListParams",
    ({ account, params }) => list([...account.intents.values()], params),
  ],
  [
    "GET /v1/payment_intents/search",
    "PaymentIntents.d.ts",
    "PaymentIntentSearchParams",
    ({ account, params }) => {
      const value = /^metadata\['tollbooth_payment'\]:'(\w+)'$/.exec(String(params.query))?.[1];
      const hits = [...account.intents.values()].filter((intent) => intent.metadata.tollbooth_payment === value);
      return {
        object: "search_result",
        data: hits,
        has_more: false,
        next_page: null,
        url: "/v1/payment_intents/search",
      };
    },
  ],
  [
    "GET /v1/payment_intents/{id}",
    "PaymentIntents.d.ts",
    "PaymentIntentRetrieveParams",
    (call) => expanded(call, intentOf(call)),
  ],
  [
    "POST /v1/payment_intents/{id}/cancel",
    "PaymentIntents.d.ts",
    "PaymentIntentCancelParams",
    (call) => {
      const intent = intentOf(call);
      const isPages = [...call.account.sessions.values()].some((session) => session.payment_intent === intent.id);
      if (isPages || !["requires_payment_method", "requires_action"].includes(intent.status)) {
        refuse(400, { code: "payment_intent_unexpected_state" });
      }
      call.account.cancel(intent);
      return intent;
    },
  ],
  [
    "GET /v1/charges",
    "Charges.d.ts",
    "ChargeListParams",
    ({ account, params }) => list(ofIntent([...account.charges.values()], params), params),
  ],
  ["POST /v1/refunds", "Refunds.d.ts", "RefundCreateParams", createRefund],
  [
    "GET /v1/refunds",
    "Refunds.d.ts",
    "RefundListParams",
    ({ account, params }) =>
      list(withCharges(account, ofIntent([...account.refunds.values()], params), params), params),
  ],
  [
    "GET /v1/disputes",
    "Disputes.d.ts",
    "DisputeListParams",
    ({ account, params }) =>
      list(withCharges(account, ofIntent([...account.disputes.values()], params), params), params),
  ],
  ["POST /v1/checkout/sessions", "Checkout/Sessions.d.ts", "Checkout.SessionCreateParams", createSession],
  [
    "GET /v1/checkout/sessions",
    "Checkout/Sessions.d.ts",
    "Checkout.SessionListParams",
    ({ account, params }) => {
      const { payment_intent: intent } = params;
      const all = [...account.sessions.values()];
      return list(intent === undefined ? all : all.filter((session) => session.payment_intent === intent), params);
    },
  ],
  ["GET /v1/checkout/sessions/{id}", "Checkout/Sessions.d.ts", "Checkout.SessionRetrieveParams", sessionOf],
  [
    "POST /v1/checkout/sessions/{id}/expire",
    "Checkout/Sessions.d.ts",
    "Checkout.SessionExpireParams",
    (call) => {
      const session = sessionOf(call);
      if (session.status !== "open")
        refuse(400, { message: "Only Checkout Sessions with a status of open can be expired" });
      Object.assign(session, { status: "expired", url: null });
      const intent = call.account.intents.get(session.payment_intent ?? "");
      if (intent && intent.status !== "canceled") call.account.cancel(intent);
      call.account.announce("checkout.session.expired", session);
      return session;
    },
  ],
];

function createIntent({ account, params }: Call): Json {
  const amount = Number(params.amount);
  if (amount < smallest) refuse(400, { code: "amount_too_small", param: "amount" });
  const token = params.payment_method;
  if (token !== undefined && account.methodOf(String(token)) === undefined) {
    refuse(400, { code: "resource_missing", param: "payment_method" });
  }
  const intent = account.createIntent({ ...params, currency: String(params.currency) });
  if (params.confirm !== "true") return intent;
  const needsBuyer = token === "pm_card_authenticationRequired";
  account.pay(intent.id, needsBuyer ? "pm_card_chargeDeclined" : String(token));
  if (intent.status === "requires_payment_method") {
    const error = intent.last_payment_error as Json;
    refuse(402, { type: "card_error", code: error.code, decline_code: error.decline_code, payment_intent: intent });
  }
  return intent;
}

function createRefund({ account, params }: Call): Json {
  const intent = account.intents.get(String(params.payment_intent)) ?? missing();
  const charge = account.charges.get(intent.latest_charge ?? "");
  if (charge?.status !== "succeeded") refuse(400, { code: "payment_intent_unexpected_state" });
  const open = [...account.disputes.values()].some(
    (each) => each.charge === charge?.id && each.status === "needs_response",
  );
  if (open) refuse(400, { code: "charge_disputed" });
  const left = (charge?.amount ?? 0) - (charge?.amount_refunded ?? 0);
  if (left === 0) refuse(400, { code: "charge_already_refunded" });
  const amount = Number(params.amount);
  if (amount > left) refuse(400, { param: "amount", message: "greater than unrefunded amount on charge" });
  const { metadata = {}, reason = null } = params;
  return account.refund(intent, amount, { metadata, reason }, account.refundsPend ? "pending" : "succeeded");
}

function createSession({ account, params }: Call): Json {
  const id = account.newId("cs_test");
  const [line] = Object.values(params.line_items as FormObject) as FormObject[];
  const price = line?.price_data as FormObject;
  const session = {
    object: "checkout.session",
    created: now(),
    expires_at: now() + 86_400,
    payment_status: "unpaid",
    ...params,
    id,
    status: "open",
    amount_total: Number(price.unit_amount) * Number(line?.quantity),
    currency: String(price.currency),
    payment_intent: null,
    url: `https://checkout.stripe.com/c/pay/${id}`,
  };
  account.sessions.set(id, session);
  return session;
}

/** Those of one intent, if one is named. */
function ofIntent<T extends Json>(objects: readonly T[], { payment_intent: intent }: FormObject): readonly T[] {
  return intent === undefined ? objects : objects.filter((each) => each.payment_intent === intent);
}

/** With the charge in place of its id, if `expand` names it. */
function withCharges<T extends Json>(account: StripeAccount, objects: readonly T[], params: FormObject): readonly T[] {
  const names = Object.values((params.expand as FormObject | undefined) ?? {});
  if (!names.includes("data.charge")) return objects;
  return objects.map((each) => ({ ...each, charge: account.charges.get(String(each.charge)) ?? null }));
}

/** Newest first, a page of it. */
function list(objects: readonly (Json & { id: string })[], params: FormObject): Json {
  const { gte = 0, lt = Number.POSITIVE_INFINITY } = (params.created ?? {}) as { gte?: number; lt?: number };
  const isWithin = (at: number) => at >= Number(gte) && at < Number(lt);
  const newest = objects.filter((each) => isWithin(Number(each.created))).toReversed();
  const start = newest.findIndex((each) => each.id === params.starting_after) + 1;
  const page = newest.slice(start, start + Number(params.limit ?? 10));
  return { object: "list", url: "/v1/list", data: page, has_more: start + page.length < newest.length };
}

/** The objects that `expand` names in place of their ids. */
function expanded({ account, params }: Call, intent: FakeIntent): Json {
  const names = Object.values((params.expand as FormObject | undefined) ?? {}).map(String);
  const method = names.includes("payment_method") ? account.paymentMethods.get(intent.payment_method ?? "") : undefined;
  const charge = names.some((name) => name.startsWith("latest_charge"))
    ? account.charges.get(intent.latest_charge ?? "")
    : undefined;
  const refunds = [...account.refunds.values()].filter((each) => each.charge === charge?.id).toReversed();
  const inlineMax = 10;
  const inline = {
    object: "list",
    url: "/v1/refunds",
    data: refunds.slice(0, inlineMax),
    has_more: refunds.length > inlineMax,
  };
  return {
    ...intent,
    payment_method: method ?? intent.payment_method,
    latest_charge: charge ? { ...charge, refunds: inline } : intent.latest_charge,
  };
}
