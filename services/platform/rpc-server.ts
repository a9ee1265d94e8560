// The RPC door of a process: one port that speaks Connect, gRPC and gRPC-Web over HTTP/2 (cleartext) and HTTP/1.1, with
// authentication, validation, deadlines, one log line per failed call, health, reflection, and a stop that drains.
import http from "node:http";
import http2 from "node:http2";
import net, { type AddressInfo, type Socket } from "node:net";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type Interceptor } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import type { Log } from "./log.ts";
import { CallGate } from "./rpc-call.ts";
import { HealthState } from "./rpc-health.ts";
import { reflection } from "./rpc-reflection.ts";
import type { TrustedCallers } from "./rpc-trust.ts";
import { UnaryDoor } from "./rpc-unary.ts";

export interface RpcServer {
  readonly port: number;
  readonly health: HealthState;
  /** Answers health checks with NOT_SERVING, lets calls in flight finish, then closes; at most graceMs. */
  close(graceMs?: number): Promise<void>;
}

// Longest a caller may ask to wait.
const timeoutMaxMs = 60_000;
// Clients of ours let go of idle connections after 10 s, long before this.
const keepAliveMs = 65_000;
// A processor's webhook is at most 1 MiB; nothing else comes close.
const messageMaxBytes = 2 << 20;
const graceDefaultMs = 8_000;

/** Listens and serves the given services. */
export async function serveRpc(options: {
  port: number;
  host: string;
  /** Whose tokens are accepted. */
  trusted: TrustedCallers;
  log: Log;
  services: readonly DescService[];
  routes: (router: ConnectRouter) => void;
  /** Answers whether the process can do its main job now; asked by health checks. */
  ready?: () => Promise<boolean>;
}): Promise<RpcServer> {
  const shutdown = new AbortController();
  const gate = new CallGate(options.trusted, options.log);
  const unary = new UnaryDoor(gate, messageMaxBytes);
  const health = new HealthState(options.services, options.ready);
  const reflect = reflection(options.services);
  const handler = connectNodeAdapter({
    routes: (router) => {
      options.routes(unary.noting(router));
      health.routes(router);
      reflect(router);
    },
    interceptors: [gateInterceptor(gate)],
    shutdownSignal: shutdown.signal,
    maxTimeoutMs: timeoutMaxMs,
    readMaxBytes: messageMaxBytes,
    acceptCompression: [],
  });
  const h1 = http.createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    if (!unary.handle(request, response)) handler(request, response);
  });
  const h2 = http2.createServer({ settings: { maxConcurrentStreams: 1_000 } }, handler);
  const sockets = new Set<Socket>();
  const door = net.createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    sniff(socket, h1, h2);
  });
  await new Promise<void>((resolve, reject) => {
    door.once("error", reject);
    door.listen(options.port, options.host, resolve);
  });
  return {
    port: (door.address() as AddressInfo).port,
    health,
    close: (graceMs = graceDefaultMs) => drain({ door, h1, h2, sockets, shutdown, health, graceMs }),
  };
}

/** HTTP/2 with prior knowledge begins with "PRI"; everything else is HTTP/1.1. */
function sniff(socket: Socket, h1: http.Server, h2: http2.Http2Server): void {
  socket.once("data", (first: Buffer) => {
    socket.pause();
    socket.unshift(first);
    (first.subarray(0, 3).toString("latin1") === "PRI" ? h2 : h1).emit("connection", socket);
    process.nextTick(() => socket.resume());
  });
}

async function drain(p: {
  door: net.Server;
  h1: http.Server;
  h2: http2.Http2Server;
  sockets: Set<Socket>;
  shutdown: AbortController;
  health: HealthState;
  graceMs: number;
}): Promise<void> {
  p.health.shutdown();
  const closed = new Promise<void>((resolve) => p.door.close(() => resolve()));
  // Closing these also sends GOAWAY on HTTP/2 sessions and ends idle HTTP/1.1 connections.
  p.h2.close();
  p.h1.close();
  p.h1.closeIdleConnections();
  const soft = setTimeout(
    () => p.shutdown.abort(new ConnectError("server is shutting down", Code.Unavailable)),
    p.graceMs / 2,
  );
  // Raw sockets, not sessions: a destroyed session can leave its socket waiting for a peer that never ends.
  const hard = setTimeout(() => {
    for (const socket of p.sockets) socket.destroy();
  }, p.graceMs);
  await closed;
  clearTimeout(soft);
  clearTimeout(hard);
}

/** The gate for calls that take the general way. */
function gateInterceptor(gate: CallGate): Interceptor {
  return (next) => (request) => {
    const header = (name: string) => request.header.get(name);
    return gate.run({ method: request.method, header }, async () => {
      if (!request.stream) gate.assertValid(request.method.input, request.message);
      return await next(request);
    });
  };
}
