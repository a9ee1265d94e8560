// The official Stripe SDK over our HTTP client: one client for all accounts, total time limits, no retries of its own.
// Maps each result to one of the port's five answers.
import Stripe from "stripe";
import { type DeclineCode, isKnown, type ProcessorAnswer } from "../connector.ts";
import { dateOf, ProcessorHttp, undecidedStatuses } from "../http.ts";

/** A call without an answer. It has no `code`, since the SDK would then retry by itself. */
class CallFailed extends Error {
  readonly sent: boolean;
  constructor(sent: boolean, cause: unknown) {
    super("no answer from Stripe", { cause });
    this.sent = sent;
  }
}

interface StripeClient {
  readonly sdk: Stripe;
  /** Stripe takes files at a host of their own. */
  readonly uploads: ProcessorHttp;
  /** Stripe's clock by its last answer. */
  time(): Date | undefined;
  close(): Promise<void>;
}

/** Objects have the shape of this version, whatever the account's default. */
export const apiVersion = "2026-10-28.endive";
const apiOrigin = "https://api.stripe.com";
const filesOrigin = "https://files.stripe.com";

/** @param origin `https://api.stripe.com`; tests set another. @param timeoutMs for one HTTP call */
export function stripeClient(origin: string, timeoutMs: number): StripeClient {
  const http = new ProcessorHttp(origin, timeoutMs);
  const uploads = new ProcessorHttp(origin === apiOrigin ? filesOrigin : origin, timeoutMs);
  const sdk = new Stripe("every call names its account's key", {
    apiVersion,
    maxNetworkRetries: 0,
    timeout: timeoutMs,
    telemetry: false,
    appInfo: { name: "Tollbooth" },
    httpClient: {
      getClientName: () => "undici",
      makeRequest: async (_host, _port, path, method, headers, form, _protocol, callMs) => {
        const answer = await http.call({
          method: method === "POST" ? "POST" : "GET",
          path,
          headers: texts(headers),
          ...(method === "POST" ? { form } : {}),
          timeoutMs: Math.min(callMs, timeoutMs),
        });
        if (answer.kind !== "answered") throw new CallFailed(answer.kind === "silent", answer.cause);
        return {
          getStatusCode: () => answer.status,
          getHeaders: () => ({ ...answer.headers }),
          getRawResponse: () => ({ headers: { ...answer.headers }, statusCode: answer.status }),
          toStream: () => undefined,
          toJSON: async () => {
            if (isStripes(answer.status, answer.body)) return answer.body;
            throw new Error(`an answer with ${answer.status} that is not Stripe's own`);
          },
        };
      },
    },
  });
  const close = async () => void (await Promise.all([http.close(), uploads.close()]));
  return { sdk, uploads, time: () => http.time(), close };
}

// https://docs.stripe.com/api/errors, and the types of older versions for keys and rates.
const errorTypes: ReadonlySet<unknown> = new Set([
  "api_error",
  "authentication_error",
  "card_error",
  "idempotency_error",
  "invalid_request_error",
  "rate_limit_error",
]);

/** True for an answer from Stripe itself: others come from an edge, whose origin may have done the work. */
export function isStripes(status: number, body: unknown): boolean {
  if (typeof body !== "object" || body === null) return false;
  if ("error" in body) {
    const { error } = body;
    return typeof error === "object" && error !== null && "type" in error && errorTypes.has(error.type);
  }
  return status < 300 && "object" in body && typeof body.object === "string";
}

/** The answer to a query about the account itself: an invalid key is declined. */
export async function accountAnswer<T>(query: Promise<T>): Promise<ProcessorAnswer<T>> {
  const answer = await queryAnswer(query);
  const error = await query.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const { StripeAuthenticationError, StripePermissionError } = Stripe.errors;
  const isRefused = error instanceof StripeAuthenticationError || error instanceof StripePermissionError;
  return isRefused ? { kind: "declined", code: "refused", message: "Stripe rejects the secret key" } : answer;
}

/** Maps Stripe's error codes for one kind of call; an error without a code is mapped by the parameter that it names. */
export interface Refusals {
  readonly codes: Readonly<Record<string, DeclineCode>>;
  readonly params: Readonly<Record<string, DeclineCode>>;
  /** For all other refusals; absent: `refused`. */
  readonly otherwise?: DeclineCode;
}

/** The answer to a command. @param value converts the result; an unreadable one proves nothing */
export async function commandAnswer<T, V>(
  call: Promise<T>,
  refusals: Refusals,
  value: (object: T) => V,
): Promise<ProcessorAnswer<V>> {
  let object: T;
  try {
    object = await call;
  } catch (error) {
    return refusalOf(error, refusals);
  }
  return mapAnswer({ kind: "succeeded", value: object }, value);
}

/** A declined card is an error of the call, but the intent was made. Rethrows other errors. */
export function declinedIntent(error: unknown): Pick<Stripe.PaymentIntent, "id"> {
  if (error instanceof Stripe.errors.StripeCardError && error.payment_intent) return error.payment_intent;
  throw error;
}

/** The answer to a query. Only Stripe's own `resource_missing` proves absence. */
export async function queryAnswer<T>(query: Promise<T>): Promise<ProcessorAnswer<T>> {
  try {
    return { kind: "succeeded", value: await query };
  } catch (error) {
    const cause = causeOf(error);
    const isRefused = error instanceof Stripe.errors.StripeInvalidRequestError;
    const isMissing = isRefused && error.statusCode === 404 && error.code === "resource_missing";
    return isMissing ? { kind: "not_found", at: dateOf(error.headers ?? {}), cause } : { kind: "unknown", cause };
  }
}

/** The preceding query got no answer, so nothing was sent. */
export function notSentAnswer(answer: ProcessorAnswer<unknown>): ProcessorAnswer<never> {
  return { kind: "not_sent", cause: "cause" in answer ? answer.cause : new Error("Stripe gave no answer") };
}

/** A missing object on the way does not prove absence under our reference. */
export function inDoubt(answer: ProcessorAnswer<unknown>): ProcessorAnswer<never> {
  return { kind: "unknown", cause: "cause" in answer ? answer.cause : new Error("Stripe gave no answer") };
}

/** Converts the value of an answer; an unreadable one proves nothing. */
export function mapAnswer<T, V>(answer: ProcessorAnswer<T>, value: (object: T) => V): ProcessorAnswer<V> {
  if (!isKnown(answer)) return answer;
  try {
    return { ...answer, value: value(answer.value) };
  } catch (cause) {
    return { kind: "unknown", cause };
  }
}

function refusalOf<V>(error: unknown, { codes, params, otherwise = "refused" }: Refusals): ProcessorAnswer<V> {
  const { StripeConnectionError, StripeError } = Stripe.errors;
  const cause = causeOf(error);
  if (error instanceof StripeConnectionError) {
    const unsent = error.detail instanceof CallFailed && !error.detail.sent;
    return unsent ? { kind: "not_sent", cause } : { kind: "unknown", cause };
  }
  if (!(error instanceof StripeError)) return { kind: "unknown", cause };
  const { statusCode = 500, code = "", rawType } = error;
  // An edge may answer while its origin continues; other work under the key or on the object leaves the outcome open.
  const isBusy = code === "lock_timeout" || code === "idempotency_key_in_use";
  const isClientError = statusCode >= 400 && statusCode < 500;
  if (!isClientError || undecidedStatuses.has(statusCode) || isBusy) return { kind: "unknown", cause };
  // The key was used for another order, whose outcome has to be queried.
  if (rawType === "idempotency_error") return { kind: "unknown", cause };
  // Our own credentials, before any work.
  if (statusCode === 401 || statusCode === 403) return { kind: "not_sent", cause };
  const declined = codes[code] ?? params[error.param ?? ""] ?? otherwise;
  return { kind: "declined", code: declined, message: cause.message };
}

/** For logs, without the request or a key. */
export function causeOf(error: unknown): Error {
  if (!(error instanceof Stripe.errors.StripeError)) return error instanceof Error ? error : new Error(String(error));
  const { statusCode, type, code, requestId } = error;
  const words = [type, statusCode, code, requestId].filter((field) => field !== undefined && field !== "");
  const detail = error.detail instanceof Error ? error.detail.cause : undefined;
  return new Error(`Stripe: ${words.join(" ")}`, detail === undefined ? undefined : { cause: detail });
}

function texts(headers: Readonly<Record<string, string | number | readonly string[]>>): Record<string, string> {
  // undici counts the body itself, and our call sets its type.
  const own = ["content-length", "content-type", "accept"];
  const kept = Object.entries(headers).filter(([name]) => !own.includes(name.toLowerCase()));
  return Object.fromEntries(kept.map(([name, value]) => [name.toLowerCase(), String(value)]));
}
