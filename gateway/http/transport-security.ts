// Strict-Transport-Security (RFC 6797) on every answer: in production browsers and proxies reach the gateway by TLS
// alone.
import type { FastifyInstance } from "fastify";
import type { GatewayConfig } from "../settings.ts";

const yearSeconds = 31_536_000;

/** The header; nothing outside production, where a developer's `localhost` would be bound to TLS for a year. */
export function transportSecurity({ NODE_ENV }: Pick<GatewayConfig, "NODE_ENV">): Readonly<Record<string, string>> {
  return NODE_ENV === "production" ? { "strict-transport-security": `max-age=${yearSeconds}` } : {};
}

/** Adds the hook; before any route. */
export function secureTransport(app: FastifyInstance, config: Pick<GatewayConfig, "NODE_ENV">): void {
  const headers = transportSecurity(config);
  app.addHook("onRequest", async (_request, reply) => void reply.headers(headers));
}
