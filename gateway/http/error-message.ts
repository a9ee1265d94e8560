// Messages that depend on the request: which object or route was not found, and which part of the request is invalid.
// A caller gets back its own well-formed id or plain path only; a session's message is one for every cause
// (docs/contract.md §2).
import type { FastifyRequest } from "fastify";
import type { Violation } from "#platform/values/failure.ts";
import { type Noun, prefixes } from "#platform/values/id.ts";
import { type Members, membersOf } from "#platform/values/unchecked.ts";
import { environmentText } from "../../services/public-json/field.ts";
import { type Envelope, errorTable } from "../failures.ts";
import { unknownRoute } from "./unknown-names.ts";

/** Replaces the table's message; an operation's or a handler's own message stays. @param paths of all operations */
export function specificMessage(
  request: FastifyRequest,
  { error: { code, message } }: Envelope,
  paths: () => readonly string[],
): string {
  if (message !== errorTable[code].message || code !== "not_found") return message;
  if (request.is404) return unknownRoute(request.method, request.url, paths());
  return request.routeOptions.config.messages?.not_found ?? missingObject(request) ?? message;
}

const nouns: Partial<Record<Noun, string>> = {
  session: "checkout session",
  payment: "payment",
  refund: "refund",
  dispute: "dispute",
  connector: "connector",
  endpoint: "webhook endpoint",
  delivery: "delivery",
  apiKey: "api key",
  request: "request",
  operation: "retry run",
};

/** Undefined: the route has no id, or its caller has no key. */
function missingObject({ routeOptions, params, query, principal }: FastifyRequest): string | undefined {
  if (!principal) return undefined;
  const schema = membersOf(routeOptions.schema);
  const inPath = idsIn(membersOf(schema.params), membersOf(params));
  const { payment_id: filter } = membersOf(query);
  const ids = inPath.length > 0 ? inPath : idsIn(membersOf(schema.querystring), { payment_id: filter });
  const malformed = ids.find(({ isWellFormed }) => !isWellFormed);
  if (malformed) return `no such ${malformed.noun}: its id must look like ${malformed.example}`;
  if (ids.length === 0) return undefined;
  const named = ids.toReversed().map(({ noun, id }) => `${noun} ${id}`);
  const place = environmentText(principal.environment) === "live" ? "the live environment" : "the sandbox";
  return `no ${named.join(" of ")} in ${place} for this api key`;
}

/** The ids among the values, in the schema's order. */
function idsIn(schema: Members, values: Members) {
  return Object.entries(membersOf(schema.properties)).flatMap(([name, property]) => {
    const { pattern, examples } = membersOf(property);
    const [, prefix] = /^\^([a-z]+)_/.exec(String(pattern)) ?? [];
    const [, noun] = Object.entries(nouns).find(([each]) => prefixes[each as Noun] === prefix) ?? [];
    const id = values[name];
    if (noun === undefined || typeof id !== "string") return [];
    const isWellFormed = new RegExp(String(pattern)).test(id);
    return [{ noun, id, isWellFormed, example: String([examples].flat()[0]) }];
  });
}

const headerFields = new Set(["Host", "Content-Length", "Idempotency-Key"]);

/** The message of `invalid_body`. @param own violations that are not of the schema's query check */
export function invalidMessage(
  { routeOptions: { schema, config } }: FastifyRequest,
  ofQuery: readonly Violation[],
  own: readonly Violation[],
): string {
  const takesBody = membersOf(schema).body !== undefined || config.holdsBody === true;
  const isOfHeader = own.length > 0 && own.every(({ field }) => headerFields.has(field));
  const isOfBody = own.length > 0 && !isOfHeader && takesBody;
  const isOfQuery = ofQuery.length > 0 || (own.length > 0 && !isOfHeader && !takesBody);
  if (isOfQuery && isOfBody) return "invalid query and request body";
  if (isOfQuery) return "invalid query";
  return isOfHeader ? "invalid header" : errorTable.invalid_body.message;
}
