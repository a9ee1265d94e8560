// All that is wrong with the query of a request, whatever else is wrong with it: the validator looks at the query only
// when the body is right, and the caller is to be told of both at once (docs/contract.md §2).
import type { FastifyRequest } from "fastify";
import type { Violation } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/members.ts";
import { numbersOf } from "../query-numbers.ts";
import { textViolations } from "../query-text.ts";
import { violationsOf } from "./schema-violations.ts";

/** One for each parameter; none where the route names no parameters. */
export function queryViolations(request: FastifyRequest): Violation[] {
  const schema = membersOf(request.routeOptions.schema).querystring;
  const check = request.getValidationFunction("querystring");
  if (typeof schema !== "object" || schema === null || !check) return [];
  const texts = textViolations(schema, request.query, request.originalUrl);
  const isValid = check(numbersOf(schema, request.query)) === true;
  const others = isValid ? [] : violationsOf(check.errors ?? []);
  return [...texts, ...others.filter(({ field }) => !texts.some((text) => text.field === field))];
}
