// The RPC server of a process: one port for Connect, gRPC and gRPC-Web over HTTP/2 and HTTP/1.1, with
// authentication, validation, deadlines, one log line per failed call, health, reflection and draining.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor, type ServiceImpl } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { compressionGzip, connectNodeAdapter } from "@connectrpc/connect-node";
import { type Drain, drainAtOnce, type Host, ownHost } from "#platform/process/host.ts";
import type { TrustedCallers } from "#platform/secrets/callers.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { Health } from "#proto/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "#proto/grpc/reflection/v1/reflection_pb.ts";
import { CallGate, CallMetrics, unauthenticated } from "./call.ts";
import { HealthState } from "./health.ts";
import { openToNeighbours } from "./in-process.ts";
import { type CertificateFiles, type Patience, RpcListener } from "./listener.ts";
import { reflectionRoutes } from "./reflection.ts";
import { Teams } from "./teams.ts";
import { UnaryHandler } from "./unary.ts";

/** A proto service and its implementation; created by `defineRpc`. */
export interface RpcService {
  readonly service: DescService;
  readonly implementation: Partial<ServiceImpl<DescService>>;
}

export function defineRpc<S extends DescService>(service: S, implementation: Partial<ServiceImpl<S>>): RpcService {
  return { service, implementation };
}

export interface RpcServer {
  readonly port: number;
  /** Throws unless the database answers, if only reads. It ignores the broker: without it only events wait. */
  ready(): Promise<boolean>;
  /** Reports NOT_SERVING and asks callers to leave, but still answers. */
  leave(): void;
  /** Reports NOT_SERVING, lets callers leave and active calls finish, then closes. */
  close(drain?: Drain): Promise<void>;
}

// The longest timeout that a caller may set.
const timeoutMaxMs = 60_000;
// A processor's webhook has at most 256 KiB, or 1 MiB from the previous release's gateway. Other messages are far
// smaller.
const messageMaxBytes = 2 << 20;

export async function serveRpc(options: {
  port: number;
  host: string;
  trusted: TrustedCallers;
  teams?: Teams;
  log: Log;
  rpc: readonly RpcService[];
  /** Whether the process can do its main job now; health checks ask it. */
  works?: () => boolean | Promise<boolean>;
  /** Throws while the process cannot answer at all. */
  ping?: () => Promise<void>;
  /** See RpcListenerOptions. */
  connectionMaxAgeMs?: number;
  patience?: Patience;
  /** Files of the port's certificate and key; absent: no TLS. */
  tls?: CertificateFiles | undefined;
  hostProcess?: Host;
  /** Name for callers in the same process. */
  name?: string;
}): Promise<RpcServer> {
  const shutdown = new AbortController();
  const { works = () => true, ping, name, hostProcess = ownHost } = options;
  const { registry, tracing, neighbours } = hostProcess;
  const services = options.rpc.map(({ service }) => service);
  const metrics = new CallMetrics(registry, services, [unauthenticated]);
  const { trusted, log, teams = new Teams() } = options;
  const gate = new CallGate({ trusted, teams, log, metrics, tracer: tracing?.tracer });
  const unary = new UnaryHandler(gate, messageMaxBytes);
  const health = new HealthState(services, async () => await works());
  const rpc = [...options.rpc, defineRpc(Health, health.rpc), defineRpc(ServerReflection, reflectionRoutes(services))];
  for (const { service, implementation } of rpc) unary.add(service, implementation);
  const adapter = connectNodeAdapter({
    routes: (router) => {
      for (const { service, implementation } of rpc) router.service(service, implementation);
    },
    interceptors: [gateInterceptor(gate)],
    shutdownSignal: shutdown.signal,
    maxTimeoutMs: timeoutMaxMs,
    readMaxBytes: messageMaxBytes,
    acceptCompression: [compressionGzip],
  });
  // The adapter would parse a message before authenticating its sender.
  const handler = authenticated(gate, adapter);
  const listener = await RpcListener.open({
    port: options.port,
    host: options.host,
    h1: afterLearning(gate, (request, response) => {
      if (!unary.handle(request, response)) handler(request, response);
    }),
    h2: afterLearning(gate, handler),
    connectionMaxAgeMs: options.connectionMaxAgeMs,
    patience: options.patience,
    ...(options.tls && { tls: { ...options.tls, log } }),
  });
  const closeToNeighbours = neighbours && name !== undefined ? openToNeighbours(neighbours, name, unary) : undefined;
  return {
    port: listener.port,
    ready: async () => {
      await ping?.();
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

/** The gate for calls through the library's general handler. */
function gateInterceptor(gate: CallGate): Interceptor {
  return (next) => (request) => {
    const header = (name: string) => request.header.get(name);
    return gate.run({ method: request.method, header }, async () => {
      if (request.stream) return await next(request);
      gate.assertValid(request.method.input, request.message);
      const response = await next(request);
      if (response.stream) return response;
      return { ...response, message: gate.answerFor(request.method.output, response.message) };
    });
  };
}

// Answers a call that is refused unread, in the caller's own protocol.

type Listener<Q, S> = (request: Q, response: S) => void;

/** Passes on calls whose caller is verified, or can be judged at once. */
function afterLearning<Q extends IncomingMessage | Http2ServerRequest, S extends ServerResponse | Http2ServerResponse>(
  gate: CallGate,
  listener: Listener<Q, S>,
): Listener<Q, S> {
  return (request, response) => {
    const learning = gate.learnCaller((name) => headerOf(request.headers, name));
    if (!learning) listener(request, response);
    else void learning.then((no) => (no ? sendRefusal(request, response, no) : listener(request, response)));
  };
}

/** Passes on calls of known callers and refuses all others. */
function authenticated<Q extends IncomingMessage | Http2ServerRequest, S extends ServerResponse | Http2ServerResponse>(
  gate: CallGate,
  listener: Listener<Q, S>,
): Listener<Q, S> {
  return (request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    const refusal = gate.rejectUnauthenticated(path, (name) => headerOf(request.headers, name));
    if (refusal) sendRefusal(request, response, refusal);
    else listener(request, response);
  };
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function sendRefusal(
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  refusal: ConnectError,
): void {
  const type = request.headers["content-type"] ?? "";
  // The rest of the request is not awaited.
  if ("shouldKeepAlive" in response) response.shouldKeepAlive = false;
  if (type.startsWith("application/grpc")) {
    const status = new Headers({ "content-type": type });
    setTrailerStatus(status, refusal);
    for (const [name, value] of status) response.setHeader(name, value);
    response.statusCode = 200;
    response.end();
    return;
  }
  response.statusCode = codeToHttpStatus(refusal.code);
  response.setHeader("content-type", "application/json");
  response.end(errorToJsonBytes(refusal, undefined));
}
