// Reads the parts of an address: ids and other route parameters, the query, and a path to continue on.
import type { FastifyRequest } from "fastify";
import { Failure } from "#platform/values/failure.ts";
import { type Id, isId, type Noun } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/unchecked.ts";

/** @throws Failure NOT_FOUND for a malformed id */
export function idParam<N extends Noun>(visit: Parameters<typeof paramOf>[0], name: string, noun: N): Id<N> {
  const value = paramOf(visit, name);
  if (!isId(noun, value)) throw new Failure("NOT_FOUND");
  return value;
}

/** A route parameter, unchecked; empty if the route has no such parameter. */
export function paramOf({ request }: { readonly request: Pick<FastifyRequest, "params"> }, name: string): string {
  const value = new Map(Object.entries(membersOf(request.params))).get(name);
  return typeof value === "string" ? value : "";
}

export function queryOf({ request }: { readonly request: Pick<FastifyRequest, "url"> }): URLSearchParams {
  const mark = request.url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : request.url.slice(mark + 1));
}

const pathMax = 2_000;

/** The path, or `/` if it could lead to another host. */
export function localPath(text: string): string {
  // Browsers read `//host` and `/\host` as other hosts, after they drop control characters.
  const isLocal = /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && !text.includes("\\") && text.length <= pathMax;
  return isLocal ? text : "/";
}
