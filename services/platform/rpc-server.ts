// The RPC door of a process: one port that speaks Connect, gRPC and gRPC-Web over HTTP/2 (cleartext) and HTTP/1.1, with
// authentication, validation, deadlines, one log line per failed call, health, reflection, and a stop that drains.
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type Interceptor } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { StatusService } from "#proto/status/v1/status_pb.ts";
import { type Drain, drainAtOnce } from "./drain.ts";
import type { Log } from "./log.ts";
import { beginAlarms } from "./rpc-alarms.ts";
import { atDoor, CallGate } from "./rpc-call.ts";
import { Door, type Patience } from "./rpc-door.ts";
import { HealthState } from "./rpc-health.ts";
import { reflection } from "./rpc-reflection.ts";
import { forKnownCallers } from "./rpc-refusal.ts";
import { statusRpc } from "./rpc-status.ts";
import type { TrustedCallers } from "./rpc-trust.ts";
import { UnaryDoor } from "./rpc-unary.ts";
import { type StateSources, tellState } from "./state-metrics.ts";

export interface RpcServer {
  readonly port: number;
  readonly health: HealthState;
  /** Answers health checks with NOT_SERVING, lets callers leave and calls in flight finish, then closes. */
  close(drain?: Drain): Promise<void>;
}

/** A service as its process and its tests start and stop it. */
export interface RunningService {
  readonly port: number;
  ready(): Promise<boolean>;
  stop(drain?: Drain): Promise<void>;
}

// Longest a caller may ask to wait.
const timeoutMaxMs = 60_000;
// A processor's webhook is at most 256 KiB, of a gateway of the release before 1 MiB; nothing else comes close.
const messageMaxBytes = 2 << 20;

/** Listens and serves the given services. */
export async function serveRpc(options: {
  port: number;
  host: string;
  /** Whose tokens are accepted. */
  trusted: TrustedCallers;
  log: Log;
  services: readonly DescService[];
  routes: (router: ConnectRouter) => void;
  /** What status.v1 and the metrics tell of; absent: neither does. */
  status?: StateSources;
  /** Answers whether the process can do its main job now; asked by health checks. */
  ready?: () => Promise<boolean>;
  /** See DoorOptions. */
  connectionMaxAgeMs?: number;
  /** See DoorOptions. */
  patience?: Patience;
}): Promise<RpcServer> {
  const shutdown = new AbortController();
  const gate = new CallGate(options.trusted, options.log);
  const unary = new UnaryDoor(gate, messageMaxBytes);
  const services = [...options.services, ...(options.status ? [StatusService] : [])];
  beginAlarms(services, [atDoor]);
  const health = new HealthState(services, options.ready);
  const reflect = reflection(services);
  const adapter = connectNodeAdapter({
    routes: (router) => {
      options.routes(unary.noting(router));
      if (options.status) router.service(StatusService, statusRpc(options.status));
      health.routes(router);
      reflect(router);
    },
    interceptors: [gateInterceptor(gate)],
    shutdownSignal: shutdown.signal,
    maxTimeoutMs: timeoutMaxMs,
    readMaxBytes: messageMaxBytes,
    acceptCompression: [],
  });
  // It reads and parses a message before it asks who sent it.
  const handler = forKnownCallers(gate, adapter);
  const door = await Door.open({
    port: options.port,
    host: options.host,
    h1: (request, response) => {
      if (!unary.handle(request, response)) handler(request, response);
    },
    h2: handler,
    connectionMaxAgeMs: options.connectionMaxAgeMs,
    patience: options.patience,
  });
  const endTelling = options.status && tellState(options.status);
  return {
    port: door.port,
    health,
    close: async (drain = drainAtOnce) => {
      health.shutdown();
      await door.close(drain, () => shutdown.abort(new ConnectError("server is shutting down", Code.Unavailable)));
      endTelling?.();
    },
  };
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
