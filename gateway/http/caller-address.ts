// Takes the caller's address from X-Forwarded-For, as the farthest trusted proxy saw it. Some proxies append the port
// (Azure's gateways, optionally AWS' load balancers), which would make every connection another caller.
import type { FastifyInstance } from "fastify";
import type { GatewayConfig } from "../settings.ts";

type ProxyConfig = Pick<GatewayConfig, "TRUST_PROXY">;

/** A number is a count of trusted hops, which Fastify alone does not support as such. */
export function trustedProxies({ TRUST_PROXY: trusted }: ProxyConfig) {
  if (trusted === undefined) return {};
  return { trustProxy: typeof trusted === "string" ? trusted : (_address: string, hop: number) => hop < trusted };
}

/** Call before every hook that reads a request's address. */
export function readAddresses(app: FastifyInstance, { TRUST_PROXY: trusted }: ProxyConfig): void {
  if (trusted === undefined) return;
  app.addHook("onRequest", async ({ raw: { headers } }) => {
    const forwarded = headers["x-forwarded-for"];
    if (forwarded !== undefined) headers["x-forwarded-for"] = withoutPorts(String(forwarded));
  });
}

/** @param forwarded such as `203.0.113.7:443, [2001:db8::1]:443, 10.0.0.1`, the farthest first */
export function withoutPorts(forwarded: string): string {
  return forwarded
    .split(",")
    .map((each) => each.trim())
    .map((each) => /^\[([^\]]+)\](?::\d{1,5})?$/.exec(each)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(each)?.[1] ?? each)
    .join(", ");
}
