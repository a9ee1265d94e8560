// A fast Connect transport for unary protobuf calls over pooled HTTP/1.1 connections, or in memory (in-process.ts). A
// connection carries one call at a time, so calls spread over a name's replicas. Any Connect server accepts it.
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

// Further calls wait: a slow peer must not take every socket of the process.
const connectionsMax = 256;
const connectTimeoutMs = 2_000;
// Shorter than the lame-duck time (process/host.ts), so a stopping server never closes a connection in use.
const keepAliveMs = 2_000;

export interface ExchangedCall {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

export interface ExchangedAnswer {
  readonly status: number;
  readonly bytes: Uint8Array;
}

/** How calls reach a peer. */
export interface Exchange {
  /** @throws an error with a code, or the signal's reason when the call ends first */
  send(call: ExchangedCall, end: CallEnd): Promise<ExchangedAnswer>;
  /** Closes the connections; active calls fail. */
  close(): void;
}

export function httpExchange(url: string): Exchange {
  const pool = new Pool(url, {
    connections: connectionsMax,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    // Overrides the server's hint (Keep-Alive: timeout=65).
    keepAliveMaxTimeout: keepAliveMs,
    connect: { timeout: connectTimeoutMs },
    // Each call's deadline covers a vanished peer; abandoned connections close.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    send: async (call, end) => {
      // The pool checks the signal only when the call's turn comes, possibly after its deadline.
      const answer = await end.until(pool.request({ method: "POST", ...call, signal: end.signal }));
      return { status: answer.statusCode, bytes: await answer.body.bytes() };
    },
    close: () => void pool.destroy(),
  };
}

/** @param ownHeaders headers of every request, read for each call */
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

/** @throws ConnectError from the peer */
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

function meaningOf({ cause }: CallEnd): [string, Code] {
  if (cause === "late") return ["the deadline has passed", Code.DeadlineExceeded];
  return ["the peer cannot be reached", cause === "canceled" ? Code.Canceled : Code.Unavailable];
}

// Ends a call at its deadline or when its caller aborts, with one signal and one timer. `AbortSignal.any` with
// `AbortSignal.timeout` costs thirty times as much.

type CallEndCause = "late" | "canceled";

export class CallEnd {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #cause: CallEndCause | undefined;

  /** @param timeoutMs undefined without a deadline */
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

  /** The first cause; undefined while the call is active. */
  get cause(): CallEndCause | undefined {
    return this.#cause;
  }

  #end(cause: CallEndCause): void {
    this.#cause ??= cause;
    this.#controller.abort();
  }

  /** Waits for the work unless the call ends first; the work continues. @throws the signal's reason */
  until<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const onEnd = () => reject(signal.reason);
      if (signal.aborted) onEnd();
      else signal.addEventListener("abort", onEnd);
      work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onEnd));
    });
  }

  /** The call is over and can no longer be aborted. */
  release(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#endByCaller);
  }

  /** The caller's signal may carry a deadline, too. */
  readonly #endByCaller = (): void => {
    const reason: unknown = this.#caller?.reason;
    this.#end(reason instanceof DOMException && reason.name === "TimeoutError" ? "late" : "canceled");
  };
}
