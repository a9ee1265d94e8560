// A fast Connect transport for unary protobuf calls over pooled HTTP/1.1 connections, or in memory (in-process.ts). A
// connection carries one call at a time, so calls spread over a name's replicas. Any Connect server accepts it.
import { readFileSync } from "node:fs";
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
import { CertificateRefused, certificateRefusal } from "#platform/values/failure.ts";

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
  send(call: ExchangedCall, end: AbortSignal): Promise<ExchangedAnswer>;
  /** Closes the connections; active calls fail. */
  close(): void;
}

/** @param caFile trusted for https instead of Node's own list */
export function httpExchange(url: string, caFile?: string): Exchange {
  const pool = new Pool(url, {
    connections: connectionsMax,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    // Overrides the server's hint (Keep-Alive: timeout=65).
    keepAliveMaxTimeout: keepAliveMs,
    connect: { timeout: connectTimeoutMs, ...(caFile !== undefined && { ca: readFileSync(caFile, "utf8") }) },
    // Each call's deadline covers a vanished peer; abandoned connections close.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const explain = (error: unknown): never => {
    const refusal = certificateRefusal(error);
    throw refusal ? new CertificateRefused(url, caFile, refusal, error) : error;
  };
  return {
    send: async (call, end) => {
      // The pool checks the signal only when the call's turn comes, possibly after its deadline.
      const answer = await unlessEnded(end, pool.request({ method: "POST", ...call, signal: end })).catch(explain);
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
      // `AbortSignal.timeout` costs thirty times as much.
      const deadline = new AbortController();
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => deadline.abort(), timeoutMs);
      const answer = await exchange
        .send(call, signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal)
        .catch((cause: unknown) => {
          if (deadline.signal.aborted) throw failed("the deadline has passed", Code.DeadlineExceeded, cause);
          throw failed("the peer cannot be reached", signal?.aborted ? Code.Canceled : Code.Unavailable, cause);
        })
        .finally(() => clearTimeout(timer));
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

function failed(message: string, code: Code, cause: unknown): ConnectError {
  return new ConnectError(message, code, undefined, undefined, cause);
}

/** Waits for the work unless the call ends first; the work continues. @throws the signal's reason */
export function unlessEnded<T>(end: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    end.addEventListener("abort", () => reject(end.reason));
    work.then(resolve, reject);
  });
}
