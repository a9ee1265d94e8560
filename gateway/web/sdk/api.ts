// The two public operations of a buyer's browser. Every outcome is a value; the secret travels in the query that the
// API reads it from, and in nothing else.
import type { CheckoutError, CreateOptions } from "./contract.ts";
import type { Fail } from "./failure.ts";
import { given, type Members, membersOf } from "./members.ts";
import { onRefusal, type Refusal, refusalTold } from "./page-policy.ts";
import { type ReadSession, readSession } from "./session.ts";
import { type SessionKey, sessionKey } from "./session-key.ts";

const resolveMs = 12_000; // one read; a page that hangs longer should say so and try again
const confirmMs = 25_000; // longer than the service waits for a processor

/** The service's word after it has asked the processor. */
export interface Verdict {
  readonly status: "open" | "processing" | "completed";
  readonly paymentId: string;
  readonly paymentStatus: string;
  /** Why the last attempt was declined, if it was. */
  readonly failure: Members;
}

interface Refused {
  readonly ok: false;
  readonly error: CheckoutError;
  readonly retryAfterMs: number;
}

export type ApiAnswer<T> = { readonly ok: true; readonly value: T } | Refused;

export interface CheckoutApi {
  resolve(): Promise<ApiAnswer<ReadSession>>;
  confirm(): Promise<ApiAnswer<Verdict>>;
}

export interface ApiPlace {
  readonly origin: string;
  readonly locale: string;
  readonly fail: Fail;
  /** Ends every request. */
  readonly signal: AbortSignal;
}

/** @param secret where the page has it from; asked for until it has told one */
export function checkoutApi(secret: CreateOptions["sessionSecret"], place: ApiPlace): CheckoutApi {
  const { origin, fail } = place;
  let key: SessionKey | undefined;
  async function ask<T>(
    method: string,
    suffix: string,
    limitMs: number,
    read: (body: unknown) => T | undefined,
  ): Promise<ApiAnswer<T>> {
    const told = key ?? (await sessionKey(secret, fail));
    if ("code" in told) return refused(told);
    key = told;
    const url = `${origin}/v1/checkout/${key.id}${suffix}?secret=${key.secret}`;
    const answer = await callApi(place, method, url, limitMs);
    if (!answer.ok) return answer;
    const value = read(answer.value);
    return value ? { ok: true, value } : refused(fail("server_error"));
  }
  return {
    resolve: () => ask("GET", "", resolveMs, (body) => readSession(body, place.locale)),
    confirm: () => ask("POST", "/confirm", confirmMs, readVerdict),
  };
}

function refused(error: CheckoutError, retryAfterMs = 0): Refused {
  return { ok: false, error, retryAfterMs };
}

function readVerdict(body: unknown): Verdict | undefined {
  const { status, payment_id: paymentId, payment_status: paymentStatus, failure } = membersOf(body);
  const isKnown = status === "open" || status === "processing" || status === "completed";
  if (!isKnown || typeof paymentId !== "string" || typeof paymentStatus !== "string") return undefined;
  return { status, paymentId, paymentStatus, failure: membersOf(failure) };
}

/** Every answer is a value; whether it may be cached, the server says. */
export async function callApi(
  place: ApiPlace,
  method: string,
  url: string,
  limitMs: number,
): Promise<ApiAnswer<unknown>> {
  const { fail, signal } = place;
  const own = new AbortController();
  const stop = () => own.abort();
  let refusal: Refusal | undefined;
  const unhear = onRefusal(/^connect/, url, (heard) => {
    refusal = heard;
  });
  const timer = setTimeout(stop, limitMs);
  signal.addEventListener("abort", stop, { signal: own.signal });
  try {
    if (signal.aborted) stop();
    const request = { method, signal: own.signal, credentials: "omit", referrerPolicy: "no-referrer" } as const;
    const response = await fetch(url, request);
    const body: unknown = await response.json();
    return response.ok ? { ok: true, value: body } : refusalOf(response, body, fail);
  } catch (error) {
    await refusalTold();
    if (refusal) return refused(fail("csp_blocked", refusal));
    // An answer that is not JSON is a proxy's, which did not reach the API.
    const code = error instanceof SyntaxError ? "server_error" : "offline";
    return refused(fail(signal.aborted ? "destroyed" : own.signal.aborted ? "timeout" : code));
  } finally {
    unhear();
    clearTimeout(timer);
    stop(); // takes the listener away
  }
}

/**
 * `connector_error` of the API says that the outcome is not known, which is one more trouble of the server to the
 * buyer.
 */
function refusalOf({ headers }: Response, body: unknown, fail: Fail): Refused {
  const { code } = membersOf(membersOf(body).error);
  const known = code === "session_expired" || code === "rate_limited" ? code : "server_error";
  const requestId = headers.get("request-id") ?? undefined;
  const seconds = Number(headers.get("retry-after"));
  const error = fail(code === "not_found" ? "invalid_secret" : known, given("requestId", requestId));
  return refused(error, seconds > 0 && seconds <= 120 ? seconds * 1_000 : 0);
}
