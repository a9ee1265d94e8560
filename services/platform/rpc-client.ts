// Clients of other services: one transport per peer, with the internal token, the call's request id, actor and trace, and a deadline
// that never outlives the caller's. Reads are tried once more when the peer was away; nothing else is.
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Level } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { callContext, nextTraceparent, remainingMs } from "./call-context.ts";
import { asFailure } from "./failure.ts";
import { unaryTransport } from "./rpc-transport.ts";

export interface Peer {
  client<S extends DescService>(service: S): Client<S>;
  /** Ends the connections; calls in flight fail. */
  close(): void;
}

// Longest a call may take when the caller gave no deadline of its own.
const timeoutDefaultMs = 15_000;
// Time a peer needs to come back from a restart is seconds; this bridges a dropped connection only.
const retryPauseMs = 50;

/** A peer at `http://host:port`, for unary calls. Failed calls throw the Failure that the peer gave. */
export function connectPeer(options: { url: string; token: string }): Peer {
  const authorization = `Bearer ${options.token}`;
  const transport = unaryTransport({ url: options.url, headers: () => outgoing(authorization) });
  const bounded = withinCaller(transport);
  return {
    client: (service) => createClient(service, bounded),
    close: () => transport.close(),
  };
}

/** Every call ends when the current caller stops waiting, at the latest; what it throws is a Failure. */
function withinCaller(inner: Transport): Transport {
  return {
    unary: async (method, signal, timeoutMs, ...rest) => {
      const call = () => inner.unary(method, signal, remainingMs(timeoutMs ?? timeoutDefaultMs), ...rest);
      try {
        return await call().catch(async (error: unknown) => {
          if (!isRead(method) || !wasAway(error)) throw error;
          await new Promise((resolve) => setTimeout(resolve, retryPauseMs));
          return await call();
        });
      } catch (error) {
        throw asFailure(error);
      }
    },
    stream: inner.stream,
  };
}

/** Hands on token, request id and trace. */
function outgoing(authorization: string): Record<string, string> {
  const context = callContext.getStore();
  return {
    authorization,
    traceparent: nextTraceparent(context?.traceparent),
    ...(context && { "request-id": context.requestId }),
    ...(context?.actor && { actor: context.actor }),
  };
}

function isRead(method: DescMethod): boolean {
  return method.idempotency === Level.NO_SIDE_EFFECTS;
}

/** True when the connection failed; an answer of the peer carries a Failure. */
function wasAway(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.Unavailable && error.details.length === 0;
}
