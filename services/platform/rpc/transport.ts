// The short way out: a Connect transport for unary calls with protobuf bodies, over pooled HTTP/1.1 connections, or in
// memory to a service of the same process (in-process.ts). A connection carries one call at a time, so calls spread
// over the replicas behind a name by themselves. Any Connect server understands it.
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  fromBinary,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport, type UnaryResponse } from "@connectrpc/connect";
import { codeFromHttpStatus, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { Pool } from "undici";

// More calls in flight than this wait their turn: a peer that is slow must not take every socket of the process.
export const connectionsMax = 256;
const connectTimeoutMs = 2_000;
// Shorter than a stopping server stays a lame duck (process/host.ts), so that it never closes one under a request.
const keepAliveMs = 2_000;

/** A call as it is sent. */
export interface ExchangedCall {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

export interface ExchangedAnswer {
  readonly status: number;
  readonly bytes: Uint8Array;
}

/** The way to a peer. */
export interface Exchange {
  /** @throws what broke it, an error with a code; or the signal's reason when the call ends first */
  send(call: ExchangedCall, end: CallEnd): Promise<ExchangedAnswer>;
  /** Ends the connections; calls in flight fail. */
  close(): void;
}

export function httpExchange(url: string): Exchange {
  const pool = new Pool(url, {
    connections: connectionsMax,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    // The server's own hint (Keep-Alive: timeout=65) would count otherwise.
    keepAliveMaxTimeout: keepAliveMs,
    connect: { timeout: connectTimeoutMs },
    // Every call has a deadline, which also ends the wait for a peer that has vanished; abandoned connections close.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    send: async (call, end) => {
      // The pool looks at the signal when it is the call's turn, which may be after its deadline.
      const answer = await end.until(pool.request({ method: "POST", ...call, signal: end.signal }));
      return { status: answer.statusCode, bytes: await answer.body.bytes() };
    },
    close: () => void pool.destroy(),
  };
}

/** @param ownHeaders what every request carries, asked at each call. */
export function unaryTransport(exchange: Exchange, ownHeaders: () => Record<string, string>): Transport {
  return {
    unary: async (method, signal, timeoutMs, header, input) => {
      const call = {
        path: pathOf(method),
        headers: { ...ownHeaders(), ...callHeaders(header, timeoutMs) },
        body: toBinary(method.input, create(method.input, input)),
      };
      const end = new CallEnd(signal, timeoutMs);
      const answer = await exchange
        .send(call, end)
        .catch((cause: unknown) => {
          throw new ConnectError(...meaningOf(end), undefined, undefined, cause);
        })
        .finally(() => end.release());
      return answeredMessage(method, answer);
    },
    stream: () => {
      throw new ConnectError("this transport is for unary calls", Code.Unimplemented);
    },
  };
}

/** What a call says of itself besides whose it is. */
function callHeaders(
  header: ConstructorParameters<typeof Headers>[0],
  timeoutMs: number | undefined,
): Record<string, string> {
  return {
    ...(header ? Object.fromEntries(new Headers(header)) : {}),
    "content-type": "application/proto",
    "connect-protocol-version": "1",
    ...(timeoutMs === undefined ? {} : { "connect-timeout-ms": String(timeoutMs) }),
  };
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** @throws ConnectError that the peer gave */
function answeredMessage<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  { status, bytes }: ExchangedAnswer,
): UnaryResponse<I, O> {
  if (status !== 200) {
    throw errorFromJsonBytes(bytes, undefined, new ConnectError(`HTTP ${status}`, codeFromHttpStatus(status)));
  }
  const message = fromBinary(method.output, bytes);
  return { stream: false, service: method.parent, method, header: new Headers(), trailer: new Headers(), message };
}

/** Why no answer came. */
function meaningOf({ cause }: CallEnd): [string, Code] {
  if (cause === "late") return ["the deadline has passed", Code.DeadlineExceeded];
  return ["the peer cannot be reached", cause === "canceled" ? Code.Canceled : Code.Unavailable];
}

// What ends a call before its answer: its deadline or its caller. One signal and one timer;
// `AbortSignal.any` of an `AbortSignal.timeout` says the same and costs thirty times as much.

type CallEndCause = "late" | "canceled";

export class CallEnd {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #cause: CallEndCause | undefined;

  /** @param timeoutMs of its deadline; undefined: it has none */
  constructor(caller: AbortSignal | undefined, timeoutMs: number | undefined) {
    this.#caller = caller;
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.#end("late"), timeoutMs);
    if (caller?.aborted) this.#endByCaller();
    else caller?.addEventListener("abort", this.#endByCaller);
  }

  /** Aborted when the call ends. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What came first; undefined: it goes on. */
  get cause(): CallEndCause | undefined {
    return this.#cause;
  }

  #end(cause: CallEndCause): void {
    this.#cause ??= cause;
    this.#controller.abort();
  }

  /** What the work gives, unless the call ends first; the work goes on. @throws the signal's reason */
  until<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const onEnd = () => reject(signal.reason);
      if (signal.aborted) onEnd();
      else signal.addEventListener("abort", onEnd);
      work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onEnd));
    });
  }

  /** The call is over: nothing can end it any more. */
  release(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#endByCaller);
  }

  /** A caller's own deadline is one, too. */
  readonly #endByCaller = (): void => {
    const reason: unknown = this.#caller?.reason;
    this.#end(reason instanceof DOMException && reason.name === "TimeoutError" ? "late" : "canceled");
  };
}
