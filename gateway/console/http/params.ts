// Ids in addresses. What has no id's form is the id of nothing, and no service is asked about it.
import type { FastifyRequest } from "fastify";
import { Failure } from "#platform/values/failure.ts";
import { type Id, isId, type Noun } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/members.ts";

/** @throws Failure NOT_FOUND */
export function idParam<N extends Noun>(
  { request }: { readonly request: Pick<FastifyRequest, "params"> },
  name: string,
  noun: N,
): Id<N> {
  const value = membersOf(request.params)[name];
  if (typeof value !== "string" || !isId(noun, value)) throw new Failure("NOT_FOUND");
  return value;
}
