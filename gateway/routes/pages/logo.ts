// Serves uploaded logos to browsers. A logo never changes, and its address has its own type only.
import type { FastifyInstance } from "fastify";
import { callContext } from "#platform/values/call-context.ts";
import type { GatewayContext } from "../../auth/auth.ts";
import { ApiError } from "../../failures.ts";
import type { Peers } from "../../peers.ts";
import { foreverCache } from "../../web/served-file.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function logoRoute(
  { app, addresses }: Pick<GatewayContext, "addresses"> & { readonly app: FastifyInstance },
  { merchants }: Pick<Peers, "merchants">,
): void {
  app.get<{ Params: { id: string } }>("/logos/:id", async (request, reply) => {
    const { id: logoId } = request.params;
    if (!uuid.test(logoId)) throw new ApiError("not_found");
    const lookup = () => callContext.run(request.call, () => merchants.getLogo({ logoId }));
    const { type, content } = await addresses.allow("page", request, reply, lookup);
    return await reply
      .header("cache-control", foreverCache)
      .header("content-security-policy", "sandbox; default-src 'none'")
      .header("cross-origin-resource-policy", "cross-origin")
      .header("x-content-type-options", "nosniff")
      .type(type)
      .send(Buffer.from(content));
  });
}
