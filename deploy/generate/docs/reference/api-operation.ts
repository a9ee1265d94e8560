// The OpenAPI document as a model for the reference: operations in its order, with inputs, responses and errors.
import { type Members, membersOf } from "#platform/values/unchecked.ts";
import { textsOf } from "../../clients/shape.ts";

/** A parameter of a path or a query. */
export interface Parameter {
  readonly name: string;
  readonly isRequired: boolean;
  /** With its description. */
  readonly schema: Members;
}

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export interface ApiOperation {
  readonly id: string;
  readonly tag: string;
  readonly method: string;
  /** With `{name}` for parameters. */
  readonly path: string;
  readonly summary: string;
  readonly text: string;
  readonly access: "key" | "secret" | "open";
  /** Of the API key. */
  readonly scope: string | undefined;
  readonly pathParameters: readonly Parameter[];
  readonly query: readonly Parameter[];
  readonly isIdempotent: boolean;
  /** JSON schema of the body. */
  readonly body: Members | undefined;
  /** Media types, if the body is a file. */
  readonly fileTypes: readonly string[];
  readonly status: number;
  /** Of the response; undefined: empty, or a file. */
  readonly answer: Members | undefined;
  readonly isFile: boolean;
  readonly refusals: readonly Refusal[];
}

export function operationsOf(document: Members): ApiOperation[] {
  return Object.entries(membersOf(document.paths)).flatMap(([path, item]) =>
    Object.entries(membersOf(item)).map(([method, operation]) =>
      operationOf(document, method.toUpperCase(), path, membersOf(operation)),
    ),
  );
}

function operationOf(document: Members, method: string, path: string, operation: Members): ApiOperation {
  const security = membersOf([operation.security].flat()[0]);
  const parameters = [operation.parameters].flat().map(membersOf);
  const contentTypes = membersOf(membersOf(operation.requestBody).content);
  const responses = Object.entries(membersOf(operation.responses));
  const success = responses.filter(([status]) => Number(status) < 206).at(-1);
  const answered = membersOf(membersOf(success?.[1]).content);
  const parametersIn = (location: string) => parameters.filter((each) => each.in === location).map(parameterOf);
  return {
    id: String(operation.operationId),
    tag: textsOf(operation.tags)[0] ?? "",
    method,
    path,
    summary: String(operation.summary),
    text: String(operation.description ?? ""),
    access: "apiKey" in security ? "key" : "sessionSecret" in security ? "secret" : "open",
    scope: textsOf(security.apiKey)[0],
    pathParameters: parametersIn("path"),
    query: parametersIn("query"),
    isIdempotent: parameters.some((each) => each.name === "Idempotency-Key"),
    body: schemaOf(contentTypes),
    fileTypes: Object.keys(contentTypes).filter((type) => type !== "application/json"),
    status: Number(success?.[0]),
    answer: schemaOf(answered),
    isFile: Object.keys(answered).length > 0 && schemaOf(answered) === undefined,
    refusals: responses
      .filter(([status]) => Number(status) >= 400)
      .flatMap(([status, response]) => refusalsOf(Number(status), resolveSchema(document, membersOf(response)))),
  };
}

function parameterOf(parameter: Members): Parameter {
  const schema = { ...membersOf(parameter.schema), description: parameter.description };
  return { name: String(parameter.name), isRequired: parameter.required === true, schema };
}

function schemaOf(content: Members): Members | undefined {
  return "application/json" in content ? membersOf(membersOf(content["application/json"]).schema) : undefined;
}

function refusalsOf(status: number, response: Members): Refusal[] {
  const examples = membersOf(membersOf(membersOf(response.content)["application/json"]).examples);
  return Object.entries(examples).map(([code, example]) => ({
    status,
    code,
    message: String(membersOf(example).summary),
  }));
}

/** Follows a `$ref`; returns other schemas unchanged. */
export function resolveSchema(document: Members, schema: Members): Members {
  if (typeof schema.$ref !== "string") return schema;
  const found = schema.$ref
    .split("/")
    .slice(1)
    .reduce<Members>((inner, key) => membersOf(inner[key]), document);
  return { ...found, ...(schema.description !== undefined && { description: schema.description }) };
}

/** The name of a referenced schema. */
export function referredName(schema: Members): string | undefined {
  return typeof schema.$ref === "string" ? schema.$ref.split("/").at(-1) : undefined;
}
