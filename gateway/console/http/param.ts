// A part of the address that the route names, as `:id`. What it names is looked up with the visit's own merchant, so
// any text may come.
import type { FastifyRequest } from "fastify";
import { membersOf } from "#platform/values/members.ts";

export function paramOf({ request }: { readonly request: Pick<FastifyRequest, "params"> }, name: string): string {
  const value = new Map(Object.entries(membersOf(request.params))).get(name);
  return typeof value === "string" ? value : "";
}
