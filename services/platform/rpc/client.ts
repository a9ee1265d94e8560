// Clients of other services: one transport per peer, with the internal token, the call's request id, actor and trace,
// and a deadline that ends before the caller's. Calls are repeated: reads once; what did not know our token once; what
// may be repeated and may have begun, while the caller waits; and calls with an idempotency key for some seconds,
// since an earlier request with the key may have begun.
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Level } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { type Host, neighbourIn } from "#platform/process/host.ts";
import { fixedToken, type OwnToken } from "#platform/secrets/callers.ts";
import { inSpan, outgoingTraceparent } from "#platform/telemetry/trace.ts";
import { callContext, callPatienceMs, remainingMs } from "#platform/values/call-context.ts";
import { asFailure, Failure } from "#platform/values/failure.ts";
import { inProcessExchange } from "./in-process.ts";
import { httpExchange, unaryTransport } from "./transport.ts";

export interface Peer {
  client<S extends DescService>(service: S): Client<S>;
  /** Ends the connections; calls in flight fail. */
  close(): void;
}

// Time a peer needs to come back from a restart is seconds; this bridges a dropped connection only.
const retryPauseMs = 50;
// Both sides look at their files again when a token is not known, at most ten times a second.
const tokenPauseMs = 150;
// Between tries of what may have been done; each waits twice as long as the one before, up to a second.
const unfinishedPauseMs = 50;
const unfinishedPauseMsMax = 1_000;
// A part that crashed again and again is back within this.
const awayMsMax = 12_000;

/**
 * A peer at `http://host:port`, or among the neighbours of this process, for unary calls. Failed calls throw the
 * Failure that the peer gave.
 */
export function connectPeer(options: { url: string; token: string | OwnToken; neighbours?: Host["neighbours"] }): Peer {
  const token = typeof options.token === "string" ? fixedToken(options.token) : options.token;
  const { url, neighbours } = options;
  const name = neighbourIn(url);
  const exchange = neighbours && name !== undefined ? inProcessExchange(neighbours, name) : httpExchange(url);
  const transport = unaryTransport(exchange, () => outgoing(token.value));
  const bounded = withinCaller(transport, token);
  return {
    client: (service) => createClient(service, bounded),
    close: () => exchange.close(),
  };
}

/** Every call ends when the current caller stops waiting, at the latest; what it throws is a Failure. */
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
          if (isStranger(error)) {
            await pause(tokenPauseMs);
            token.refresh();
            return await call();
          }
          const isWorth = isUnfinished(error) || (isKeyed(method) && isAwayForMoments(error));
          if (mayRepeat(method, rest[1]) && isWorth) return await untilFinished(call, isKeyed(method), error);
          if (!wasAway(error) || !isRead(method)) throw error;
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
 * Asks again while the peer is away, as a call with an idempotency key is made again: what must be known before such a
 * call can be, and what is part of something long that would have to begin anew.
 */
export async function askPatiently<T>(ask: () => Promise<T>): Promise<T> {
  return await ask().catch(async (error: unknown) => {
    if (!isUnavailable(error)) throw error;
    return await untilFinished(ask, true, error);
  });
}

/**
 * Calls again while the peer, or what it needs, is away and there is time.
 * @throws Failure when there is no time left; of what was begun nobody may be told that nothing was done:
 * IDEMPOTENCY_CONFLICT for a call with a key, else it says `begun`.
 */
async function untilFinished<T>(call: () => Promise<T>, hasKey: boolean, unfinished: unknown): Promise<T> {
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

/**
 * True for a call that does its work once, however often it is made: by its nature, or by the idempotency key that it
 * carries.
 */
function mayRepeat(method: DescMethod, input: unknown): boolean {
  if (method.idempotency !== Level.IDEMPOTENT) return false;
  return (
    !isKeyed(method) || (typeof input === "object" && input !== null && "idempotency" in input && !!input.idempotency)
  );
}

function isKeyed(method: DescMethod): boolean {
  return method.input.fields.some((field) => field.localName === "idempotency");
}

/** A refusal of this very process is its own trouble, and must not look to its callers like a refusal of theirs. */
function ownFailure(failure: Failure): Failure {
  const isOurs = failure.reason === "CALLER_UNKNOWN" || failure.reason === "CALLER_REFUSED";
  return isOurs ? new Failure("INTERNAL_ERROR", { cause: failure }) : failure;
}

function reasonOf(error: unknown): string {
  return asFailure(error).reason;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Hands on token, request id and trace. */
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

/** True when the peer did not know our token; it has done nothing. */
function isStranger(error: unknown): boolean {
  return (
    error instanceof ConnectError && error.code === Code.Unauthenticated && asFailure(error).reason === "CALLER_UNKNOWN"
  );
}

/**
 * True when the peer may have done some of the work: it says so, it never answered, or the connection was made and
 * broke.
 */
function isUnfinished(error: unknown): boolean {
  if (wasAway(error)) return wasBroken(error);
  const isSilent = error instanceof ConnectError && error.code === Code.DeadlineExceeded;
  return isSilent || (isUnavailable(error) && asFailure(error).begun);
}

function isUnavailable(error: unknown): boolean {
  return asFailure(error).reason === "SERVICE_UNAVAILABLE";
}

/** True unless the peer itself says that it will be away for longer than anybody waits here. */
function isAwayForMoments(error: unknown): boolean {
  return isUnavailable(error) && asFailure(error).retryAfterMs <= awayMsMax;
}

/** True when the connection was made, so that the peer may have begun. */
function wasBroken(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return !["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT"].includes(code);
}

/** True when the connection failed; an answer of the peer carries a Failure. */
function wasAway(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.Unavailable && error.details.length === 0;
}

// A question that many callers have at once is asked once for all of them. Nobody gets an answer to a question that was
// asked before he came: whoever comes while one is under way shares the next, so that what was changed before a call is
// seen by it.

interface Turn<T> {
  readonly current: Promise<T>;
  /** Begins when the current one has ended. */
  next: Promise<T> | undefined;
}

export class SharedQuestion<T> {
  readonly #turns = new Map<string, Turn<T>>();

  /** @param key what is asked; the same key means the same question. */
  ask(key: string, question: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(key);
    if (!turn) return this.#begin(key, question);
    // It belongs to nobody's request, so that nobody's deadline ends it for the others.
    const next = () => callContext.exit(() => this.#begin(key, question));
    turn.next ??= turn.current.then(next, next);
    return turn.next;
  }

  async #begin(key: string, question: () => Promise<T>): Promise<T> {
    const turn: Turn<T> = { current: question(), next: undefined };
    this.#turns.set(key, turn);
    try {
      return await turn.current;
    } finally {
      if (this.#turns.get(key) === turn && !turn.next) this.#turns.delete(key);
    }
  }
}
