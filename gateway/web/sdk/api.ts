// The two public operations of a buyer's browser. Every outcome is a value; the secret travels in the query that the
// API reads it from, and in nothing else.
import type { CheckoutError } from "./contract.ts";
import type { Fail } from "./failure.ts";
import { type Members, membersOf } from "./members.ts";
import { type ReadSession, readSession } from "./session.ts";

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

export type ApiAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: CheckoutError; readonly retryAfterMs: number };

export interface CheckoutApi {
  resolve(): Promise<ApiAnswer<ReadSession>>;
  confirm(): Promise<ApiAnswer<Verdict>>;
}

export interface ApiPlace {
  readonly origin: string;
  readonly sessionId: string;
  readonly secret: string;
  readonly locale: string;
  readonly fail: Fail;
  readonly signal: AbortSignal;
}

export function checkoutApi(place: ApiPlace): CheckoutApi {
  const { origin, sessionId, secret, fail } = place;
  const address = (suffix: string) =>
    `${origin}/v1/checkout/${sessionId}${suffix}?secret=${encodeURIComponent(secret)}`;
  return {
    async resolve() {
      const answer = await callApi(place, "GET", address(""), resolveMs);
      if (!answer.ok) return answer;
      const value = readSession(answer.value, place.locale);
      return value ? { ok: true, value } : { ok: false, error: fail("server_error"), retryAfterMs: 0 };
    },
    async confirm() {
      const answer = await callApi(place, "POST", address("/confirm"), confirmMs);
      if (!answer.ok) return answer;
      const { status, payment_id: paymentId, payment_status: paymentStatus, failure } = membersOf(answer.value);
      const isKnown = status === "open" || status === "processing" || status === "completed";
      if (!isKnown || typeof paymentId !== "string" || typeof paymentStatus !== "string") {
        return { ok: false, error: fail("server_error"), retryAfterMs: 0 };
      }
      return { ok: true, value: { status, paymentId, paymentStatus, failure: membersOf(failure) } };
    },
  };
}

async function callApi(place: ApiPlace, method: string, url: string, limitMs: number): Promise<ApiAnswer<unknown>> {
  const { fail, signal } = place;
  const own = new AbortController();
  const stop = () => own.abort();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, limitMs);
  signal.addEventListener("abort", stop);
  try {
    if (signal.aborted) stop();
    const request = {
      method,
      signal: own.signal,
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
    } as const;
    const response = await fetch(url, request);
    const body: unknown = await response.json();
    if (response.ok) return { ok: true, value: body };
    return { ok: false, error: refusal(response, body, fail), retryAfterMs: retryAfterMs(response) };
  } catch {
    const code = signal.aborted ? "destroyed" : isLate ? "timeout" : "offline";
    return { ok: false, error: fail(code), retryAfterMs: 0 };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/**
 * `connector_error` of the API says that the outcome is not known, which is one more trouble of the server to the
 * buyer.
 */
function refusal(response: Response, body: unknown, fail: Fail): CheckoutError {
  const requestId = response.headers.get("request-id");
  const more = requestId ? { requestId } : {};
  switch (membersOf(membersOf(body).error).code) {
    case "not_found":
      return fail("invalid_secret", more);
    case "session_expired":
      return fail("session_expired", more);
    case "rate_limited":
      return fail("rate_limited", more);
    default:
      return fail("server_error", more);
  }
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get("retry-after"));
  return seconds > 0 && seconds <= 120 ? seconds * 1_000 : 0;
}
