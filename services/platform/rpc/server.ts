// The RPC door of a process: one port that speaks Connect, gRPC and gRPC-Web over HTTP/2 (cleartext) and HTTP/1.1, with
// authentication, validation, deadlines, one log line per failed call, health, reflection, and a stop that drains.
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type Interceptor } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import type { Recovery } from "#platform/operate/recovery.ts";
import { recoveryRpc } from "#platform/operate/recovery-rpc.ts";
import { replayRpc } from "#platform/operate/replay-rpc.ts";
import { reportState, type StateSources } from "#platform/operate/state-metrics.ts";
import { statusRpc } from "#platform/operate/status-rpc.ts";
import { type Drain, drainAtOnce } from "#platform/process/drain.ts";
import { type Host, ownHost } from "#platform/process/host.ts";
import type { TrustedCallers } from "#platform/secrets/callers.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { ReplayService } from "#proto/events/v1/replay_pb.ts";
import { RecoveryService } from "#proto/status/v1/recovery_pb.ts";
import { StatusService } from "#proto/status/v1/status_pb.ts";
import { CallGate, unauthenticated } from "./call.ts";
import { CallMetrics } from "./call-metrics.ts";
import { HealthState } from "./health.ts";
import { openToNeighbours } from "./in-process.ts";
import { type Patience, RpcListener } from "./listener.ts";
import { reflection } from "./reflection.ts";
import { forKnownCallers } from "./refusal.ts";
import { UnaryHandler } from "./unary.ts";

export interface RpcServer {
  readonly port: number;
  /**
   * Takes calls: its database answers, if only reads. The broker is no part of it: without it events wait, and nobody
   * else does.
   */
  ready(): Promise<boolean>;
  /** Answers health checks with NOT_SERVING and asks callers to leave, but still answers whatever comes. */
  leave(): void;
  /** Answers health checks with NOT_SERVING, lets callers leave and calls in flight finish, then closes. */
  close(drain?: Drain): Promise<void>;
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
  /**
   * What status.v1 and the metrics tell of, whose events are sent again on demand, and how it recovers; absent: none of
   * it.
   */
  status?: StateSources & { readonly recovery: Recovery };
  /** Asked by health checks, besides whether the database takes writes: can the process do its main job now? */
  works?: () => boolean;
  /** See DoorOptions. */
  connectionMaxAgeMs?: number;
  /** See DoorOptions. */
  patience?: Patience;
  hostProcess?: Host;
  /** The name that other services of the same process call it by. */
  name?: string;
}): Promise<RpcServer> {
  const shutdown = new AbortController();
  const { works = () => true, status, name, hostProcess = ownHost } = options;
  const { registry, tracing, neighbours } = hostProcess;
  const services = [...options.services, ...(status ? [StatusService, ReplayService, RecoveryService] : [])];
  const metrics = new CallMetrics(registry, services, [unauthenticated]);
  const gate = new CallGate({ trusted: options.trusted, log: options.log, metrics, tracer: tracing?.tracer });
  const unary = new UnaryHandler(gate, messageMaxBytes);
  const health = new HealthState(services, async () => works() && ((await status?.db.takesWrites()) ?? true));
  const reflect = reflection(services);
  const adapter = connectNodeAdapter({
    routes: (router) => {
      const noted = unary.noting(router);
      options.routes(noted);
      if (status) {
        noted.service(StatusService, statusRpc(status));
        noted.service(ReplayService, replayRpc(status));
        noted.service(RecoveryService, recoveryRpc(status, status.recovery));
      }
      health.routes(noted);
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
  const listener = await RpcListener.open({
    port: options.port,
    host: options.host,
    h1: (request, response) => {
      if (!unary.handle(request, response)) handler(request, response);
    },
    h2: handler,
    connectionMaxAgeMs: options.connectionMaxAgeMs,
    patience: options.patience,
  });
  const closeToNeighbours = neighbours && name !== undefined ? openToNeighbours(neighbours, name, unary) : undefined;
  if (status) reportState(registry, status);
  return {
    port: listener.port,
    ready: async () => {
      await status?.db.ping();
      return true;
    },
    leave: () => {
      health.shutdown();
      listener.leave();
    },
    close: async (drain = drainAtOnce) => {
      health.shutdown();
      const onHalfTime = () => shutdown.abort(new ConnectError("server is shutting down", Code.Unavailable));
      await Promise.all([listener.close(drain, onHalfTime), closeToNeighbours?.(drain)]);
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
