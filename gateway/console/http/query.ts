// The query of an address. A console's addresses hold the state of its lists; a name that comes twice counts once.
import type { FastifyRequest } from "fastify";

export function queryOf({ request }: { readonly request: Pick<FastifyRequest, "url"> }): URLSearchParams {
  const mark = request.url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : request.url.slice(mark + 1));
}
