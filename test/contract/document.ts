// The OpenAPI document of a running gateway, and the check of an answer against it: status, headers, and every field,
// without others.
import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { ownFormats } from "../../gateway/http/own-formats.ts";
import { type Answer, apiClient } from "../harness/api.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** One operation of the document. */
export interface DocumentOperation {
  readonly id: string;
  readonly method: string;
  /** With `{name}` for parameters. */
  readonly path: string;
  /** Its scope; undefined for the ones without an API key. */
  readonly scope: string | undefined;
  readonly pathParameters: readonly string[];
  /** A value of each of them, by name. */
  readonly examplePath: Readonly<Record<string, string>>;
  /** Takes JSON. */
  readonly hasBody: boolean;
  /** Takes bytes. */
  readonly isRaw: boolean;
  /** Names of the body's fields. */
  readonly bodyFields: readonly string[];
  /** JSON Schema of the body; empty without one. */
  readonly bodySchema: JsonObject;
  /** JSON Schema of the query parameters, by name. */
  readonly query: Readonly<Record<string, JsonObject>>;
  /** Every code it can give. */
  readonly codes: readonly string[];
  /** The status of success, and not that of a repeat (`repeated` of gateway/operation.ts) or of a part. */
  readonly success: number;
}

export interface ApiDocument {
  readonly operations: readonly DocumentOperation[];
  readonly root: JsonObject;
  operation(id: string): DocumentOperation;
  /** Whether the operation takes the body, by the document. */
  takes(id: string, body: unknown): boolean;
  /** Schemas of all bodies and query parameters, references resolved at the top. */
  requestSchemas(): readonly JsonObject[];
  /** Fails unless the document describes this answer of the operation. */
  check(id: string, answer: Answer): void;
}

/** Reads /openapi.json. */
export async function apiDocument(baseUrl: string): Promise<ApiDocument> {
  const root = (await apiClient(baseUrl).get("/openapi.json")).expect(200).body;
  const operations = Object.entries(objectOf(valueAt(root, "paths"))).flatMap(([path, item]) =>
    Object.entries(objectOf(item)).map(([method, described]) => operationOf(root, path, method, objectOf(described))),
  );
  const operation = (id: string) => {
    const found = operations.find((each) => each.id === id);
    if (!found) throw new Error(`the document has no operation ${id}`);
    return found;
  };
  const validators = new Map<string, ValidateFunction>();
  const ajv = ajvOf(root, closed);
  // The document may allow more fields in a request than it names.
  const bodies = ajvOf(root, (schema) => schema, ownFormats);
  return {
    root,
    operations,
    operation,
    takes: (id, body) => bodies.validate(operation(id).bodySchema, body),
    requestSchemas: () =>
      operations.flatMap(({ bodySchema, query }) => [resolved(root, bodySchema), ...Object.values(query)]),
    check(id, answer) {
      const { path, method } = operation(id);
      const described = valueAt(root, "paths", path, method.toLowerCase(), "responses", String(answer.status));
      assert.ok(described, `${id} answered a status that is not described: ${answer}`);
      assert.match(answer.headers.get("request-id") ?? "", /^req_[0-9a-z]{26}$/);
      const response = resolved(root, objectOf(described));
      const schema = valueAt(response, "content", "application/json", "schema");
      const [media = ""] = Object.keys(objectOf(response.content));
      if (schema === undefined && media !== "") {
        assert.equal(answer.headers.get("content-type"), `${media}; charset=utf-8`);
        return;
      }
      if (schema === undefined) {
        assert.equal(answer.raw, "", `${id} must have no body`);
        return;
      }
      assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
      const key = `${id} ${answer.status}`;
      const validate = validators.get(key) ?? ajv.compile(closed(objectOf(schema)));
      validators.set(key, validate);
      if (!validate(answer.body)) throw new Error(`${key}: ${ajv.errorsText(validate.errors)} in ${answer}`);
      if (answer.status >= 400) checkCode(root, operation(id), response, answer);
    },
  };
}

/** Messages that depend on the request. */
const requestMessages: Readonly<Record<string, RegExp>> = {
  invalid_body: /^invalid /,
  unauthorized: /api key/,
  forbidden: /api key|^merchant is not active$/,
  not_found: /^(?:no |not found$)/,
};

/**
 * The code must be one of the operation's, with the message that the document shows for it, and a link to its section
 * of /docs.
 */
function checkCode(root: JsonObject, operation: DocumentOperation, response: JsonObject, answer: Answer): void {
  const code = answer.text("error.code");
  assert.ok(operation.codes.includes(code), `${operation.id} does not list ${code}`);
  assert.equal(answer.headers.get("link"), `</docs/api/errors#${code}>; rel="help"`);
  const example = objectOf(valueAt(response, "content", "application/json", "examples", code, "value"));
  const ofRequest = requestMessages[code];
  if (ofRequest) assert.match(answer.text("error.message"), ofRequest);
  else assert.equal(answer.text("error.message"), valueAt(example, "error", "message"));
  if (code !== "invalid_body") assert.equal(answer.at("error.details"), undefined);
  assert.ok(valueAt(root, "components", "schemas", "ApiError"));
}

function operationOf(root: JsonObject, path: string, method: string, described: JsonObject): DocumentOperation {
  const parameters = listOf(described.parameters).map(objectOf);
  const inPath = parameters.filter((each) => each.in === "path");
  const responses = Object.entries(objectOf(described.responses));
  const codes = responses.flatMap(([status, response]) =>
    Number(status) < 400
      ? []
      : Object.keys(valueAt(resolved(root, objectOf(response)), "content", "application/json", "examples") ?? {}),
  );
  const body = valueAt(described, "requestBody", "content", "application/json", "schema");
  const [security] = listOf(described.security).map(objectOf);
  return {
    id: String(described.operationId),
    method: method.toUpperCase(),
    path,
    scope: security && "apiKey" in security ? String(listOf(security.apiKey)[0]) : undefined,
    pathParameters: inPath.map((each) => String(each.name)),
    examplePath: Object.fromEntries(
      inPath.map((each) => [String(each.name), String(listOf(objectOf(each.schema).examples)[0])]),
    ),
    query: Object.fromEntries(
      parameters.filter((each) => each.in === "query").map((each) => [String(each.name), objectOf(each.schema)]),
    ),
    hasBody: body !== undefined,
    isRaw: described.requestBody !== undefined && body === undefined,
    bodySchema: objectOf(body),
    bodyFields: Object.keys(objectOf(resolved(root, objectOf(body)).properties)),
    codes,
    success: Math.max(...responses.map(([status]) => Number(status)).filter((status) => status < 206)),
  };
}

/** References resolve to the document's components. @param shape changes each of them */
function ajvOf(root: JsonObject, shape: (schema: JsonObject) => JsonObject, formats = {}): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats });
  addFormats.default(ajv);
  for (const [name, schema] of Object.entries(objectOf(valueAt(root, "components", "schemas")))) {
    ajv.addSchema(shape(objectOf(schema)), `#/components/schemas/${name}`);
  }
  return ajv;
}

/** The schema with every object closed: a field that is not described is an error. */
function closed(schema: JsonObject): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) copy[key] = closedValue(value);
  if (copy.type === "object" && "properties" in copy) copy.additionalProperties = false;
  return copy;
}

function closedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedValue);
  return typeof value === "object" && value !== null ? closed(objectOf(value)) : value;
}

function resolved(root: JsonObject, schema: JsonObject): JsonObject {
  if (typeof schema.$ref !== "string") return schema;
  return objectOf(valueAt(root, ...schema.$ref.split("/").slice(1)));
}

/** The value under the keys; undefined when missing. */
export function valueAt(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inner, key) => (inner === undefined ? undefined : objectOf(inner)[key]), value);
}

function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
