// Whose address a request has behind proxies: the one that the farthest trusted proxy saw, from X-Forwarded-For. Some
// write the port beside it (Azure's gateways do, AWS' load balancers can): with it one caller would be another one with
// each connection, to limits by address as to keys that are limited to addresses.
import type { FastifyInstance } from "fastify";
import type { GatewayConfig } from "../settings.ts";

type ProxyConfig = Pick<GatewayConfig, "TRUST_PROXY">;

/** A number says how far from us a proxy may stand whose word counts; Fastify itself takes it for nobody's. */
export function trustedProxies({ TRUST_PROXY: trusted }: ProxyConfig) {
  if (trusted === undefined) return {};
  return { trustProxy: typeof trusted === "string" ? trusted : (_address: string, hop: number) => hop < trusted };
}

/** Before every hook that asks for a request's address. */
export function readAddresses(app: FastifyInstance, { TRUST_PROXY: trusted }: ProxyConfig): void {
  if (trusted === undefined) return;
  app.addHook("onRequest", async ({ raw: { headers } }) => {
    const forwarded = headers["x-forwarded-for"];
    if (forwarded !== undefined) headers["x-forwarded-for"] = withoutPorts(String(forwarded));
  });
}

/** @param forwarded addresses, the farthest first, as `203.0.113.7:443, [2001:db8::1]:443, 10.0.0.1` */
export function withoutPorts(forwarded: string): string {
  return forwarded
    .split(",")
    .map((each) => each.trim())
    .map((each) => /^\[([^\]]+)\](?::\d{1,5})?$/.exec(each)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(each)?.[1] ?? each)
    .join(", ");
}
