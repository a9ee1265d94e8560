// Clients of other services: one transport per peer, with token, request id, actor, trace, and a deadline before the
// caller's. Retries: reads once; calls with an unrecognised token once; repeatable calls that may have begun, while the
// caller waits; calls with an idempotency key for some seconds, since an earlier request may have begun.
import { setTimeout as pause } from "node:timers/promises";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Level } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { type Host, neighbourIn } from "#platform/process/host.ts";
import { fixedToken, type OwnToken } from "#platform/secrets/callers.ts";
import { inSpan, outgoingTraceparent } from "#platform/telemetry/trace.ts";
import { callContext, callPatienceMs, remainingMs } from "#platform/values/call-context.ts";
import { asFailure, CertificateRefused, Failure } from "#platform/values/failure.ts";
import { errorCode } from "#platform/values/unchecked.ts";
import { inProcessExchange } from "./in-process.ts";
import { httpExchange, unaryTransport } from "./transport.ts";

export interface Peer {
  client<S extends DescService>(service: S): Client<S>;
  /** Closes the connections; active calls fail. */
  close(): void;
}

// A restart takes seconds; this retry only covers a dropped connection.
const retryPauseMs = 50;
// Both sides reread their files when a token is unknown, at most ten times per second.
const tokenPauseMs = 150;
// First pause between tries of a call that may have begun; it doubles up to a second.
const unfinishedPauseMs = 50;
const unfinishedPauseMsMax = 1_000;
// A program that crashed repeatedly is back within this.
const awayMsMax = 12_000;

/**
 * Connects to `http(s)://host:port` or a neighbour in this process, for unary calls. Failed calls throw the peer's
 * Failure.
 */
export function connectPeer(options: {
  url: string;
  token: string | OwnToken;
  /** See httpExchange. */
  caFile?: string | undefined;
  neighbours?: Host["neighbours"];
}): Peer {
  const token = typeof options.token === "string" ? fixedToken(options.token) : options.token;
  const { url, caFile, neighbours } = options;
  const name = neighbourIn(url);
  const exchange = neighbours && name !== undefined ? inProcessExchange(neighbours, name) : httpExchange(url, caFile);
  const transport = unaryTransport(exchange, () => outgoing(token.value));
  const bounded = withinCaller(transport, token);
  return {
    client: (service) => createClient(service, bounded),
    close: () => exchange.close(),
  };
}

/** Bounds each call by its caller's deadline, and converts errors to a Failure. */
function withinCaller(inner: Transport, token: OwnToken): Transport {
  return {
    unary: async (method, signal, timeoutMs, ...rest) => {
      const name = `${method.parent.typeName}/${method.name}`;
      const spanOptions = {
        name,
        kind: "CLIENT",
        attributes: { "rpc.system.name": "connectrpc", "rpc.method": name },
      } as const;
      const call = () => inSpan(spanOptions, () => unspanned(), reasonOf);
      const unspanned = () => inner.unary(method, signal, remainingMs(timeoutMs ?? callPatienceMs()), ...rest);
      try {
        return await call().catch(async (error: unknown) => {
          if (isUnknownToken(error)) {
            await pause(tokenPauseMs);
            token.refresh();
            return await call();
          }
          const isRetryable = isUnfinished(error) || (isKeyed(method) && isBrieflyUnavailable(error));
          if (mayRepeat(method, rest[1]) && isRetryable) return await untilFinished(call, isKeyed(method), error);
          if (!isConnectionFailure(error) || !isRead(method)) throw error;
          await pause(retryPauseMs);
          return await call();
        });
      } catch (error) {
        throw ownFailure(asFailure(error));
      }
    },
    stream: inner.stream,
  };
}

/**
 * Retries while the peer or its dependencies are unavailable and time is left.
 * @throws Failure when no time is left. If the call may have begun, the failure must not mean that nothing was done:
 * IDEMPOTENCY_CONFLICT with a key, else `begun` is set
 */
export async function untilFinished<T>(call: () => Promise<T>, hasKey: boolean, unfinished: unknown): Promise<T> {
  const began = performance.now();
  const patienceMs = callPatienceMs();
  let last = unfinished;
  let isBegun = isUnfinished(last);
  const leftMs = () => began + (isBegun ? patienceMs : Math.min(awayMsMax, patienceMs)) - performance.now();
  for (let ms = unfinishedPauseMs; ms < leftMs(); ms = Math.min(2 * ms, unfinishedPauseMsMax)) {
    await pause(ms);
    try {
      return await call();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      last = error;
      isBegun ||= isUnfinished(error);
    }
  }
  if (!isBegun) throw last;
  const reason = hasKey ? "IDEMPOTENCY_CONFLICT" : "SERVICE_UNAVAILABLE";
  throw new Failure(reason, { cause: last, retryAfterMs: 1_000, begun: true });
}

/** True for a call that takes effect once even if repeated: by its nature, or by its idempotency key. */
function mayRepeat(method: DescMethod, input: unknown): boolean {
  if (method.idempotency !== Level.IDEMPOTENT) return false;
  return (
    !isKeyed(method) || (typeof input === "object" && input !== null && "idempotency" in input && !!input.idempotency)
  );
}

function isKeyed(method: DescMethod): boolean {
  return method.input.fields.some((field) => field.localName === "idempotency");
}

/** If a peer rejects this process's token, its own callers are not at fault. */
function ownFailure(failure: Failure): Failure {
  const isOurs = failure.reason === "CALLER_UNKNOWN" || failure.reason === "CALLER_REFUSED";
  return isOurs ? new Failure("INTERNAL_ERROR", { cause: failure }) : failure;
}

function reasonOf(error: unknown): string {
  return asFailure(error).reason;
}

function outgoing(token: string): Record<string, string> {
  const context = callContext.getStore();
  return {
    authorization: `Bearer ${token}`,
    traceparent: outgoingTraceparent(),
    ...(context && { "request-id": context.requestId }),
    ...(context?.actor && { actor: context.actor }),
    ...(context?.merchantStatus && { "merchant-status": context.merchantStatus }),
  };
}

function isRead(method: DescMethod): boolean {
  return method.idempotency === Level.NO_SIDE_EFFECTS;
}

/** The peer did not recognise our token and has done nothing. */
function isUnknownToken(error: unknown): boolean {
  return (
    error instanceof ConnectError && error.code === Code.Unauthenticated && asFailure(error).reason === "CALLER_UNKNOWN"
  );
}

/** The peer may have done some of the work: it reports that, did not answer, or the connection broke. */
function isUnfinished(error: unknown): boolean {
  if (isConnectionFailure(error)) return mayHaveArrived(error);
  const isSilent = error instanceof ConnectError && error.code === Code.DeadlineExceeded;
  return isSilent || (isUnavailable(error) && asFailure(error).begun);
}

export function isUnavailable(error: unknown): boolean {
  return asFailure(error).reason === "SERVICE_UNAVAILABLE";
}

/** False when the peer announces a longer outage than the caller waits for. */
function isBrieflyUnavailable(error: unknown): boolean {
  return isUnavailable(error) && asFailure(error).retryAfterMs <= awayMsMax;
}

/** The connection was established, so the peer may have begun. */
function mayHaveArrived(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof CertificateRefused) return false;
  const code = errorCode(cause);
  return !["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT"].includes(code);
}

/** The connection failed; a peer's answer contains a Failure. */
function isConnectionFailure(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.Unavailable && error.details.length === 0;
}
