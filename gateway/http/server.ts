// The HTTP server of the gateway and the consoles: strict transport security, addresses behind proxies, the request
// log and a graceful shutdown.
import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import Fastify, { type FastifyHttpOptions, type FastifyInstance } from "fastify";
import { type Drain, drainAtOnce, type Host } from "#platform/process/host.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { followRequests } from "../log/request-log.ts";
import type { GatewayConfig } from "../settings.ts";
import { readAddresses, trustedProxies } from "./caller-address.ts";
import { BrokenConnections } from "./http-parser-error.ts";

// Node checks for late requests at this interval, so they may exceed their time by as much.
const lateCheckMs = 1_000;
const yearSeconds = 31_536_000;

type ServerConfig = Pick<GatewayConfig, "NODE_ENV" | "TRUST_PROXY">;

export interface RunningServer {
  readonly port: number;
  /** True if this replica accepts requests. The public `/readyz` also checks the services. */
  ready(): Promise<boolean>;
  /** Finishes requests in flight, then closes everything. */
  stop(drain?: Drain): Promise<void>;
}

interface Server {
  readonly app: FastifyInstance;
  isDraining(): boolean;
  /** @param closeRest closes the server's dependencies after its last request */
  listen(at: { readonly PORT: number; readonly HOST: string }, closeRest: () => Promise<void>): Promise<RunningServer>;
}

export function createServer(
  config: ServerConfig,
  log: Log,
  host: Host,
  { http, ...options }: FastifyHttpOptions<HttpServer>,
): Server {
  const headers = transportSecurity(config);
  const broken = new BrokenConnections(headers);
  const app = Fastify({
    logger: false,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    clientErrorHandler: broken.end,
    http: { connectionsCheckingInterval: lateCheckMs, ...http },
    ...trustedProxies(config),
    ...options,
  });
  broken.follow(app.server);
  let draining = false;
  app.addHook("onRequest", async (_request, reply) => void reply.headers(headers));
  readAddresses(app, config);
  followRequests(app, log, host);
  // `Connection: close` moves callers to another replica without breaking a request.
  app.addHook("onSend", async (_request, reply) => {
    if (draining) reply.header("connection", "close");
  });
  const stop = async ({ lameDuckMs, graceMs } = drainAtOnce) => {
    draining = true;
    await pause(lameDuckMs);
    const limit = setTimeout(() => app.server.closeAllConnections(), graceMs);
    await app.close();
    clearTimeout(limit);
  };
  return {
    app,
    isDraining: () => draining,
    listen: async ({ PORT, HOST }, closeRest) => {
      await app.listen({ port: PORT, host: HOST });
      return {
        port: portOf(app),
        ready: async () => !draining,
        stop: async (drain) => {
          await stop(drain);
          await closeRest();
        },
      };
    },
  };
}

/**
 * Strict-Transport-Security (RFC 6797), in production only: it would bind a developer's `localhost` to TLS for a year.
 */
export function transportSecurity({ NODE_ENV }: Pick<ServerConfig, "NODE_ENV">): Readonly<Record<string, string>> {
  return NODE_ENV === "production" ? { "strict-transport-security": `max-age=${yearSeconds}` } : {};
}

function portOf(app: FastifyInstance): number {
  const address: AddressInfo | string | null = app.server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}
