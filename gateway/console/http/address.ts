// What an address says: ids and other parts that the route names, the query, and a path to go on to.
import type { FastifyRequest } from "fastify";
import { Failure } from "#platform/values/failure.ts";
import { type Id, isId, type Noun } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/unchecked.ts";

/** An id; what has no id's form is the id of nothing, and no service is asked about it. @throws Failure NOT_FOUND */
export function idParam<N extends Noun>(
  { request }: { readonly request: Pick<FastifyRequest, "params"> },
  name: string,
  noun: N,
): Id<N> {
  const value = membersOf(request.params)[name];
  if (typeof value !== "string" || !isId(noun, value)) throw new Failure("NOT_FOUND");
  return value;
}

/** The query, which holds the state of lists. */
export function queryOf({ request }: { readonly request: Pick<FastifyRequest, "url"> }): URLSearchParams {
  const mark = request.url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : request.url.slice(mark + 1));
}

/** What it names is looked up with the visit's own merchant, so any text may come. */
export function paramOf({ request }: { readonly request: Pick<FastifyRequest, "params"> }, name: string): string {
  const value = new Map(Object.entries(membersOf(request.params))).get(name);
  return typeof value === "string" ? value : "";
}

const pathMax = 2_000;

/** Where a browser goes after its sign-in: the path, or `/` when it could lead anywhere else. */
export function localPath(text: string): string {
  // `//host` and `/\host` are other hosts to a browser; control characters are dropped before it looks.
  const isLocal = /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && !text.includes("\\") && text.length <= pathMax;
  return isLocal ? text : "/";
}
