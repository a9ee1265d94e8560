// The short way out: a Connect transport for unary calls over pooled HTTP/1.1 connections with protobuf bodies. A connection carries
// one call at a time, so calls spread over the replicas behind a name by themselves. Any Connect server understands it.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { codeFromHttpStatus, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { Pool } from "undici";

// More calls in flight than this wait their turn: a peer that is slow must not take every socket of the process.
const connectionsMax = 256;
const connectTimeoutMs = 2_000;
// Shorter than a stopping server stays a lame duck (drain.ts), so that it never closes one under a request.
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
    // The call's own deadline bounds everything.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    unary: async (method, signal, timeoutMs, header, input) => {
      const headers: Record<string, string> = {
        ...options.headers(),
        ...(header ? Object.fromEntries(new Headers(header)) : {}),
        "content-type": "application/proto",
        "connect-protocol-version": "1",
        ...(timeoutMs === undefined ? {} : { "connect-timeout-ms": String(timeoutMs) }),
      };
      const body = toBinary(method.input, create(method.input, input));
      const path = `/${method.parent.typeName}/${method.name}`;
      const limits = [signal, timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)].filter(
        (s) => s !== undefined,
      );
      const { status, bytes } = await exchange(pool, path, headers, body, AbortSignal.any(limits));
      if (status !== 200) {
        throw errorFromJsonBytes(bytes, undefined, new ConnectError(`HTTP ${status}`, codeFromHttpStatus(status)));
      }
      const message = fromBinary(method.output, bytes);
      return { stream: false, service: method.parent, method, header: new Headers(), trailer: new Headers(), message };
    },
    stream: () => {
      throw new ConnectError("this transport is for unary calls", Code.Unimplemented);
    },
    close: () => void pool.destroy(),
  };
}

async function exchange(
  pool: Pool,
  path: string,
  headers: Record<string, string>,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<{ status: number; bytes: Uint8Array }> {
  try {
    const answer = await pool.request({ method: "POST", path, headers, body, signal });
    return { status: answer.statusCode, bytes: await answer.body.bytes() };
  } catch (cause) {
    const late = signal.aborted && signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
    throw new ConnectError(
      late ? "the deadline has passed" : "the peer cannot be reached",
      late ? Code.DeadlineExceeded : signal.aborted ? Code.Canceled : Code.Unavailable,
      undefined,
      undefined,
      cause,
    );
  }
}
