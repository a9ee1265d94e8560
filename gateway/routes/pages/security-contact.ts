// /.well-known/security.txt (RFC 9116): where somebody who has found a weakness may tell of it. The operator's words;
// none, no file.
import type { FastifyInstance } from "fastify";
import type { GatewayConfig } from "../../settings.ts";

/** Adds the route, when contact and expiry are set: the RFC wants both. */
export function securityContactRoute(
  app: FastifyInstance,
  {
    SECURITY_CONTACT: contact,
    SECURITY_EXPIRES: expires,
  }: Pick<GatewayConfig, "SECURITY_CONTACT" | "SECURITY_EXPIRES">,
): void {
  if (contact === undefined || expires === undefined) return;
  const text = `Contact: ${contact}\nExpires: ${expires}\n`;
  app.get("/.well-known/security.txt", async (_request, reply) => reply.type("text/plain; charset=utf-8").send(text));
}
