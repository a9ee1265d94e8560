// The short way out: a Connect transport for unary calls over pooled HTTP/1.1 connections with protobuf bodies. A
// connection carries one call at a time, so calls spread over the replicas behind a name by themselves. Any Connect
// server understands it.
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
import { CallEnd } from "./call-end.ts";

// More calls in flight than this wait their turn: a peer that is slow must not take every socket of the process.
export const connectionsMax = 256;
const connectTimeoutMs = 2_000;
// Shorter than a stopping server stays a lame duck (process/drain.ts), so that it never closes one under a request.
const keepAliveMs = 2_000;

/** @param headers what every request carries, asked at each call. */
export function unaryTransport(options: {
  url: string;
  headers: () => Record<string, string>;
}): Transport & { close(): void } {
  const pool = new Pool(options.url, {
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
    unary: async (method, signal, timeoutMs, header, input) => {
      const body = toBinary(method.input, create(method.input, input));
      const headers = { ...options.headers(), ...callHeaders(header, timeoutMs) };
      const end = new CallEnd(signal, timeoutMs);
      return answeredMessage(method, await exchange(pool, { path: pathOf(method), headers, body }, end));
    },
    stream: () => {
      throw new ConnectError("this transport is for unary calls", Code.Unimplemented);
    },
    close: () => void pool.destroy(),
  };
}

/** What a call says of itself besides whose it is. */
export function callHeaders(
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

export function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** @throws ConnectError that the peer gave */
export function answeredMessage<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  { status, bytes }: { readonly status: number; readonly bytes: Uint8Array },
): UnaryResponse<I, O> {
  if (status !== 200) {
    throw errorFromJsonBytes(bytes, undefined, new ConnectError(`HTTP ${status}`, codeFromHttpStatus(status)));
  }
  const message = fromBinary(method.output, bytes);
  return { stream: false, service: method.parent, method, header: new Headers(), trailer: new Headers(), message };
}

interface Call {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

async function exchange(pool: Pool, call: Call, end: CallEnd): Promise<{ status: number; bytes: Uint8Array }> {
  try {
    // The pool looks at the signal when it is the call's turn, which may be after its deadline.
    const answer = await end.until(pool.request({ method: "POST", ...call, signal: end.signal }));
    return { status: answer.statusCode, bytes: await answer.body.bytes() };
  } catch (cause) {
    throw endedCall(end, cause);
  } finally {
    end.release();
  }
}

/** A call that got no answer. @param cause what broke it; the client's repetitions go by its code */
export function endedCall(end: CallEnd, cause: unknown): ConnectError {
  return new ConnectError(...meaningOf(end), undefined, undefined, cause);
}

/** Why no answer came. */
function meaningOf({ cause }: CallEnd): [string, Code] {
  if (cause === "late") return ["the deadline has passed", Code.DeadlineExceeded];
  return ["the peer cannot be reached", cause === "canceled" ? Code.Canceled : Code.Unavailable];
}
