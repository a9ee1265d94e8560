// The HTTP server under the gateway and the consoles: what both need of Fastify, strict transport security, addresses
// behind proxies, the request log, and an orderly end.
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

// How often Node looks for requests that are late: they end at most this much after their time.
const lateCheckMs = 1_000;
const yearSeconds = 31_536_000;

type ServerConfig = Pick<GatewayConfig, "NODE_ENV" | "TRUST_PROXY">;

/** A running server. */
export interface RunningServer {
  readonly port: number;
  /** Whether this replica takes requests; whether the services behind it work is asked at the public `/readyz`. */
  ready(): Promise<boolean>;
  /** Lets requests in flight end, then closes everything. */
  stop(drain?: Drain): Promise<void>;
}

export interface Server {
  readonly app: FastifyInstance;
  isDraining(): boolean;
  /** @param closeRest what the server stands on, closed after its last request */
  listen(at: { readonly PORT: number; readonly HOST: string }, closeRest: () => Promise<void>): Promise<RunningServer>;
}

/** @param options limits and rules of its own */
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
  // Callers leave for another replica with their next answer; none finds its connection closed under a request.
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
 * Strict-Transport-Security (RFC 6797); nothing outside production, where a developer's `localhost` would be bound to
 * TLS for a year.
 */
export function transportSecurity({ NODE_ENV }: Pick<ServerConfig, "NODE_ENV">): Readonly<Record<string, string>> {
  return NODE_ENV === "production" ? { "strict-transport-security": `max-age=${yearSeconds}` } : {};
}

function portOf(app: FastifyInstance): number {
  const address: AddressInfo | string | null = app.server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}
