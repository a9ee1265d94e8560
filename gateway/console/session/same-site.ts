// Forms come from pages of our own origin: browsers say where a request comes from (Fetch Metadata), and those that do
// not name the origin. What says neither is no browser's form.
import type { FastifyRequest } from "fastify";

export function isFromOurPages(request: Pick<FastifyRequest, "headers">, origin: string): boolean {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  return request.headers.origin === origin;
}
