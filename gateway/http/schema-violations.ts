// What the validator says of a body or a query in the caller's words: the field's name and the form that is wanted,
// never a value that was sent (docs/contract.md §2).
import type { FastifyError, FastifyRequest } from "fastify";
import type { Violation } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { detailsMax } from "../failures.ts";
import { numbersOf } from "../query-numbers.ts";
import { textViolations } from "../query-text.ts";
import { type FieldPath, fieldName } from "./body/json-body.ts";
import { notBlank } from "./display-text.ts";
import { formatProblem } from "./own-formats.ts";
import { unknownProblem } from "./unknown-names.ts";

export type SchemaError = NonNullable<FastifyError["validation"]>[number];

/** The validator's errors, one for each field, in the caller's names and without values. */
export function violationsOf(errors: readonly SchemaError[]): Violation[] {
  const byField = new Map<string, Violation>();
  for (const error of errors) {
    const violation = violationOf(error);
    if (violation && !byField.has(violation.field)) byField.set(violation.field, violation);
    if (byField.size === detailsMax) break;
  }
  return [...byField.values()];
}

function violationOf(error: SchemaError): Violation | undefined {
  const path = pathOf(error);
  const { params } = error;
  if (error.keyword === "additionalProperties") {
    const name = String(params.additionalProperty);
    const known = Object.keys(membersOf(membersOf(membersOf(error).parentSchema).properties));
    return { field: fieldName([...path, name]), problem: unknownProblem(name, known) };
  }
  if (error.keyword === "required") {
    return { field: fieldName([...path, String(params.missingProperty)]), problem: "is required" };
  }
  // The error of the name itself comes before this one.
  if (error.keyword === "propertyNames") return undefined;
  const problem = problemOf(error);
  return { field: fieldName(path), problem: "propertyName" in error ? `names ${problem}` : problem };
}

/** A number is a place in a list, but in an object whose names are the caller's own (`metadata`). */
function pathOf({ instancePath, schemaPath }: SchemaError): FieldPath {
  const isNamed = schemaPath.includes("/additionalProperties/");
  return instancePath
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((segment) => (/^\d+$/.test(segment) && !isNamed ? Number(segment) : segment));
}

type Words = (limit: unknown, error: SchemaError) => string;

const entries: Words = (limit) => `must have at most ${limit} entries`;

/** The wanted form in plain English. A request's schema uses no other keyword (test/contract/input.test.ts). */
const wordsOf: Readonly<Record<string, Words>> = {
  type: (_, { params }) => `must be ${withArticle([params.type].flat().map(String))}`,
  enum: (_, { params }) => `must be ${oneOf([params.allowedValues].flat().map(String))}`,
  minLength: (limit) => (limit === 1 ? "must not be empty" : `must have at least ${limit} characters`),
  maxLength: (limit) => `must have at most ${limit} characters`,
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  minItems: (limit) => (limit === 1 ? "must have at least one entry" : `must have at least ${limit} entries`),
  maxItems: entries,
  maxProperties: entries,
  minProperties: (_, error) => `must have at least one of ${fieldsOf(error)}`,
  pattern: (_, error) =>
    error.params.pattern === notBlank ? "must not be blank" : `must look like ${exampleOf(error)}`,
  format: (_, error) =>
    formatProblem(String(error.params.format), membersOf(error).data) ?? `must be a valid ${error.params.format}`,
};

/** Keywords of a schema that have words of their own; the others of ours name a field, or hold schemas. */
export const wordedKeywords: readonly string[] = [
  ...["required", "additionalProperties", "propertyNames"],
  ...Object.keys(wordsOf),
];

function problemOf(error: SchemaError): string {
  return wordsOf[error.keyword]?.(error.params.limit, error) ?? "is not valid";
}

// More names than this are a table to look into.
const namesMax = 8;

/** The fields that an object can have, in words. */
function fieldsOf(error: SchemaError): string {
  const names = Object.keys(membersOf(membersOf(membersOf(error).parentSchema).properties));
  return names.length > namesMax ? "its fields" : names.join(", ");
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `${values[0]}` : `one of ${values.join(", ")}`;
}

/** Every pattern of ours stands beside an example (test/contract/openapi.test.ts), since nobody reads patterns. */
function exampleOf(error: SchemaError): string {
  const { examples } = membersOf(membersOf(error).parentSchema);
  return String([examples].flat()[0]);
}

function withArticle(types: readonly string[]): string {
  return types
    .map((type) => (type === "null" ? "null" : /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`))
    .join(" or ");
}

/**
 * All that is wrong with the query. The validator looks at it only when the body is right, and the caller is to hear of
 * both at once (docs/contract.md §2).
 */
export function queryViolations(request: FastifyRequest): Violation[] {
  const schema = membersOf(request.routeOptions.schema).querystring;
  const check = request.getValidationFunction("querystring");
  if (typeof schema !== "object" || schema === null || !check) return [];
  const texts = textViolations(schema, request.query, request.originalUrl);
  const isValid = check(numbersOf(schema, request.query)) === true;
  const others = isValid ? [] : violationsOf(check.errors ?? []);
  return [...texts, ...others.filter(({ field }) => !texts.some((text) => text.field === field))];
}
