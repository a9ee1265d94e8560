// Calls the two public operations of a buyer's browser. Every outcome is a value. The secret is sent only in the query.
import type { CheckoutError, CreateOptions } from "./contract.ts";
import type { Fail } from "./failure.ts";
import { type Members, membersOf, optionalMember } from "./members.ts";
import { onRefusal, type Refusal, waitForReport } from "./page-policy.ts";
import { type ReadSession, readSession } from "./session.ts";
import { type SessionKey, sessionKey } from "./session-key.ts";

const resolveMs = 12_000; // one read; after this the page offers a retry
const confirmMs = 25_000; // longer than the service's own wait for a processor

/** The service's result after it asked the processor. */
export interface Verdict {
  readonly status: "open" | "processing" | "completed";
  readonly paymentId: string;
  readonly paymentStatus: string;
  /** Why the last attempt was declined, if any. */
  readonly failure: Members;
  /** The decline moved the payment to another processor: the session has another render. */
  readonly isReplaced: boolean;
}

interface RefusedAnswer {
  readonly ok: false;
  readonly error: CheckoutError;
  readonly retryAfterMs: number;
}

export type ApiAnswer<T> = { readonly ok: true; readonly value: T } | RefusedAnswer;

export interface CheckoutApi {
  resolve(): Promise<ApiAnswer<ReadSession>>;
  confirm(): Promise<ApiAnswer<Verdict>>;
}

export interface ApiContext {
  readonly origin: string;
  readonly locale: string;
  readonly fail: Fail;
  /** Aborts every request. */
  readonly signal: AbortSignal;
}

/** @param secret a function is called again until it returns a secret */
export function checkoutApi(secret: CreateOptions["sessionSecret"], context: ApiContext): CheckoutApi {
  const { origin, fail } = context;
  let key: SessionKey | undefined;
  async function ask<T>(
    method: string,
    suffix: string,
    limitMs: number,
    read: (body: unknown) => T | undefined,
  ): Promise<ApiAnswer<T>> {
    const keyOrError = key ?? (await sessionKey(secret, fail));
    if ("code" in keyOrError) return refusedAnswer(keyOrError);
    key = keyOrError;
    const url = `${origin}/v1/checkout/${key.id}${suffix}?secret=${key.secret}`;
    const answer = await callApi(context, method, url, limitMs);
    if (!answer.ok) return answer;
    const value = read(answer.value);
    return value ? { ok: true, value } : refusedAnswer(fail("server_error"));
  }
  return {
    resolve: () => ask("GET", "", resolveMs, (body) => readSession(body, context.locale)),
    confirm: () => ask("POST", "/confirm", confirmMs, readVerdict),
  };
}

function refusedAnswer(error: CheckoutError, retryAfterMs = 0): RefusedAnswer {
  return { ok: false, error, retryAfterMs };
}

function readVerdict(body: unknown): Verdict | undefined {
  const { status, payment_id: paymentId, payment_status: paymentStatus, ...more } = membersOf(body);
  const isKnown = status === "open" || status === "processing" || status === "completed";
  if (!isKnown || typeof paymentId !== "string" || typeof paymentStatus !== "string") return undefined;
  return { status, paymentId, paymentStatus, failure: membersOf(more.failure), isReplaced: !!more.render_replaced };
}

/** Never rejects. */
export async function callApi(
  context: ApiContext,
  method: string,
  url: string,
  limitMs: number,
): Promise<ApiAnswer<unknown>> {
  const { fail, signal } = context;
  const own = new AbortController();
  const stop = () => own.abort();
  let refusal: Refusal | undefined;
  const stopListening = onRefusal(/^connect/, url, (report) => {
    refusal = report;
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
    await waitForReport();
    if (refusal) return refusedAnswer(fail("csp_blocked", refusal));
    // A response that is not JSON comes from a proxy.
    const code = error instanceof SyntaxError ? "server_error" : "offline";
    return refusedAnswer(fail(signal.aborted ? "destroyed" : own.signal.aborted ? "timeout" : code));
  } finally {
    stopListening();
    clearTimeout(timer);
    stop(); // removes the listener
  }
}

/**
 * The API's `connector_error` means an unknown outcome, which the buyer sees as a server error.
 */
function refusalOf({ headers }: Response, body: unknown, fail: Fail): RefusedAnswer {
  const { code } = membersOf(membersOf(body).error);
  const known = code === "session_expired" || code === "rate_limited" ? code : "server_error";
  const requestId = headers.get("request-id") ?? undefined;
  const seconds = Number(headers.get("retry-after"));
  const error = fail(code === "not_found" ? "invalid_secret" : known, optionalMember("requestId", requestId));
  return refusedAnswer(error, seconds > 0 && seconds <= 120 ? seconds * 1_000 : 0);
}
