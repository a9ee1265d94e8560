// Converts validator errors to violations: the field's name and the expected form, never a value that was sent
// (docs/contract.md §2).
import type { FastifyError, FastifyRequest } from "fastify";
import type { Violation } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { detailsMax } from "../failures.ts";
import { numbersOf, textViolations } from "../query.ts";
import { type FieldPath, fieldName } from "./body/json-body.ts";
import { notBlank } from "./display-text.ts";
import { formatProblem } from "./own-formats.ts";
import { unknownProblem } from "./unknown-names.ts";

type SchemaError = NonNullable<FastifyError["validation"]>[number];

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
  // A separate error reports the name itself.
  if (error.keyword === "propertyNames") return undefined;
  const problem = problemOf(error);
  return { field: fieldName(path), problem: "propertyName" in error ? `names ${problem}` : problem };
}

/** A number is a list index, except in an object with the caller's own names (`metadata`). */
function pathOf({ instancePath, schemaPath }: SchemaError): FieldPath {
  const isNamed = schemaPath.includes("/additionalProperties/");
  return instancePath
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((segment) => (/^\d+$/.test(segment) && !isNamed ? Number(segment) : segment));
}

type ProblemText = (limit: unknown, error: SchemaError) => string;

const entries: ProblemText = (limit) => `must have at most ${limit} entries`;

/** Request schemas use no other keyword (test/contract/input.test.ts). */
const problemTexts: Readonly<Record<string, ProblemText>> = {
  type: (_, { params }) => `must be ${withArticle([params.type].flat().map(String))}`,
  enum: (_, { params }) => `must be ${oneOf([params.allowedValues].flat().map(String))}`,
  minLength: (limit) => (limit === 1 ? "must not be empty" : `must have at least ${limit} characters`),
  maxLength: (limit) => `must have at most ${limit} characters`,
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  minItems: (limit) => (limit === 1 ? "must have at least one entry" : `must have at least ${limit} entries`),
  maxItems: entries,
  uniqueItems: () => "must not have an entry twice",
  // The errors of the single forms come first.
  anyOf: () => "must have one of its forms",
  maxProperties: entries,
  minProperties: (_, error) => `must have at least one of ${fieldsOf(error)}`,
  pattern: (_, error) =>
    error.params.pattern === notBlank ? "must not be blank" : `must look like ${exampleOf(error)}`,
  format: (_, error) =>
    formatProblem(String(error.params.format), membersOf(error).data) ?? `must be a valid ${error.params.format}`,
};

export const reportedKeywords: readonly string[] = [
  ...["required", "additionalProperties", "propertyNames"],
  ...Object.keys(problemTexts),
];

function problemOf(error: SchemaError): string {
  return problemTexts[error.keyword]?.(error.params.limit, error) ?? "is not valid";
}

// Beyond this a list of names does not help.
const namesMax = 8;

function fieldsOf(error: SchemaError): string {
  const names = Object.keys(membersOf(membersOf(membersOf(error).parentSchema).properties));
  return names.length > namesMax ? "its fields" : names.join(", ");
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `${values[0]}` : `one of ${values.join(", ")}`;
}

/** Every pattern has an example (test/contract/openapi.test.ts), which explains more than the pattern. */
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
 * All violations of the query. The validator checks it only if the body is valid, but both are reported together
 * (docs/contract.md §2).
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
