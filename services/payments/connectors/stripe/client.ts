// The official Stripe SDK on our own HTTP: one client for all accounts, total time limits, no retries of its own, and
// what came of a call as one of the port's five answers.
import Stripe from "stripe";
import { type DeclineCode, isKnown, type ProcessorAnswer } from "../connector.ts";
import { dateOf, ProcessorHttp } from "../http.ts";

/** The call did not come back with an answer. Without a `code`, so that the SDK does not try again by itself. */
class CallFailed extends Error {
  readonly sent: boolean;
  constructor(sent: boolean, cause: unknown) {
    super("no answer from Stripe", { cause });
    this.sent = sent;
  }
}

export interface StripeClient {
  readonly sdk: Stripe;
  /** Where files go: Stripe takes them at a host of their own. */
  readonly uploads: ProcessorHttp;
  /** Stripe's clock by its last answer. */
  time(): Date | undefined;
  close(): Promise<void>;
}

/** Objects are read in the shape of this version, whatever the account's default is. */
export const apiVersion = "2026-10-28.endive";
const apiOrigin = "https://api.stripe.com";
const filesOrigin = "https://files.stripe.com";

/** @param origin `https://api.stripe.com`; tests name another. @param timeoutMs for one HTTP call as a whole. */
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

// https://docs.stripe.com/api/errors, and what older versions say of keys and rates.
const errorTypes: ReadonlySet<unknown> = new Set([
  "api_error",
  "authentication_error",
  "card_error",
  "idempotency_error",
  "invalid_request_error",
  "rate_limit_error",
]);

/**
 * Every object of Stripe's says what it is, and every error of what type it is. Whatever else comes is the word of an
 * edge on the way, whose origin may have done the work.
 */
export function isStripes(status: number, body: unknown): boolean {
  if (typeof body !== "object" || body === null) return false;
  if ("error" in body) {
    const { error } = body;
    return typeof error === "object" && error !== null && "type" in error && errorTypes.has(error.type);
  }
  return status < 300 && "object" in body && typeof body.object === "string";
}

/** The answer to a question about the account itself: a key that Stripe does not take is declined. */
export async function accountAnswer<T>(question: Promise<T>): Promise<ProcessorAnswer<T>> {
  const answer = await questionAnswer(question);
  const error = await question.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const { StripeAuthenticationError, StripePermissionError } = Stripe.errors;
  const isRefused = error instanceof StripeAuthenticationError || error instanceof StripePermissionError;
  return isRefused ? { kind: "declined", code: "refused", message: "Stripe does not take the secret key" } : answer;
}

/**
 * What Stripe's error codes mean for one kind of call; a refusal without a code is told apart by the parameter it
 * names.
 */
export interface Refusals {
  readonly codes: Readonly<Record<string, DeclineCode>>;
  readonly params: Readonly<Record<string, DeclineCode>>;
  /** Of a refusal that is none of these; absent: `refused`. */
  readonly otherwise?: DeclineCode;
}

/**
 * The answer to a call that changes something. @param value what a success means; one that it cannot read proves
 * nothing.
 */
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
  return understood(object, value);
}

/**
 * A declined card is an error of the call, but the intent was made: what became of it is in the intent. Others are
 * thrown again.
 */
export function declinedIntent(error: unknown): Pick<Stripe.PaymentIntent, "id"> {
  if (error instanceof Stripe.errors.StripeCardError && error.payment_intent) return error.payment_intent;
  throw error;
}

/** The answer to a question. Only Stripe's own word that it has no such object is proof that there is nothing. */
export async function questionAnswer<T>(question: Promise<T>): Promise<ProcessorAnswer<T>> {
  try {
    return { kind: "succeeded", value: await question };
  } catch (error) {
    const cause = causeOf(error);
    const isRefused = error instanceof Stripe.errors.StripeInvalidRequestError;
    const isMissing = isRefused && error.statusCode === 404 && error.code === "resource_missing";
    return isMissing ? { kind: "not_found", at: dateOf(error.headers ?? {}), cause } : { kind: "unknown", cause };
  }
}

/** What is known before anything is sent. */
export function declinedAnswer(code: DeclineCode, message: string): ProcessorAnswer<never> {
  return { kind: "declined", code, message };
}

/** A question that had to come first got no answer, so nothing was sent. */
export function notSentAnswer(answer: ProcessorAnswer<unknown>): ProcessorAnswer<never> {
  return { kind: "not_sent", cause: "cause" in answer ? answer.cause : new Error("Stripe gave no answer") };
}

/** Nothing found by a look-up is no proof that there is nothing under our reference. */
export function inDoubt(answer: ProcessorAnswer<unknown>): ProcessorAnswer<never> {
  return {
    kind: "unknown",
    cause: "cause" in answer ? answer.cause : new Error("Stripe gave no answer"),
  };
}

/** What an answer brings, in other words; one that cannot be read proves nothing. */
export function mapAnswer<T, V>(answer: ProcessorAnswer<T>, value: (object: T) => V): ProcessorAnswer<V> {
  if (!isKnown(answer)) return answer;
  try {
    return { ...answer, value: value(answer.value) };
  } catch (cause) {
    return { kind: "unknown", cause };
  }
}

function understood<T, V>(object: T, value: (object: T) => V): ProcessorAnswer<V> {
  try {
    return { kind: "succeeded", value: value(object) };
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
  // An edge may answer for an origin that goes on working, and somebody else's work under the key or on the object says
  // nothing yet.
  const isBusy = code === "lock_timeout" || code === "idempotency_key_in_use";
  const isClientError = statusCode >= 400 && statusCode < 500;
  if (!isClientError || undecided.has(statusCode) || isBusy) return { kind: "unknown", cause };
  // The key was used for another order: what became of that one has to be looked up.
  if (rawType === "idempotency_error") return { kind: "unknown", cause };
  // Our own credentials, before any work.
  if (statusCode === 401 || statusCode === 403) return { kind: "not_sent", cause };
  const declined = codes[code] ?? params[error.param ?? ""] ?? otherwise;
  return { kind: "declined", code: declined, message: cause.message };
}

/**
 * Statuses below 500 that say nothing about what becomes of the request: timeout, conflict, too early, too many
 * requests.
 */
export const undecided: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/** For logs: what happened, never the request or a key. */
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
