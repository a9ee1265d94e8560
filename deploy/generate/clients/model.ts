// The OpenAPI document as a model for the libraries: resources with methods and types, events and error codes. The two
// operations of browsers are left out.
import { type Members, membersOf } from "#platform/values/unchecked.ts";
import { memberNames, pascalCase, pathNames } from "./names.ts";
import {
  type Field,
  fieldOf,
  type ObjectType,
  objectType,
  type Registry,
  type Shape,
  shapeOf,
  textsOf,
} from "./shape.ts";
import { namesIn, TypeBook } from "./type-book.ts";

/** The next page of a list: after its last object, by offset, or there is one page only. */
export type Paging = "after" | "offset" | "none";

export type Result =
  | { readonly kind: "nothing" }
  | { readonly kind: "page"; readonly items: Shape; readonly paging: Paging }
  | { readonly kind: "value"; readonly shape: Shape }
  | { readonly kind: "bytes" };

export interface ClientOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly resource: string;
  /** In camel case. */
  readonly name: string;
  readonly summary: string;
  readonly text: string;
  /** Undefined: no API key. */
  readonly scope: string | undefined;
  /** In the order of the path, camel case. */
  readonly pathNames: readonly string[];
  readonly query: readonly Field[];
  /** A type with fields. */
  readonly body: ObjectType | undefined;
  /** Media types, if the body is a file. */
  readonly fileTypes: readonly string[];
  readonly result: Result;
  readonly isIdempotent: boolean;
}

export interface Resource {
  readonly name: string;
  readonly operations: readonly ClientOperation[];
  /**
   * Types that no earlier resource uses, so imports point to earlier resources only and never form a cycle. A type
   * follows the types of its fields.
   */
  readonly types: readonly ObjectType[];
}

export interface EventModel {
  readonly code: string;
  readonly text: string;
  readonly type: ObjectType;
}

export interface ClientModel {
  readonly version: string;
  readonly resources: readonly Resource[];
  /** Names of sent and received types. */
  readonly sent: ReadonlySet<string>;
  readonly answered: ReadonlySet<string>;
  readonly events: readonly EventModel[];
  readonly errorCodes: readonly string[];
  /** Names of received fields that no log may contain. */
  readonly secretFields: readonly string[];
}

export function clientModel(document: Members): ClientModel {
  const types = new TypeBook(membersOf(membersOf(document.components).schemas));
  const operations = Object.entries(membersOf(document.paths)).flatMap(([path, item]) =>
    Object.entries(membersOf(item))
      .map(([method, operation]) => operationOf(method.toUpperCase(), path, membersOf(operation), types))
      .filter((operation) => operation !== undefined),
  );
  const secrets = [...types.all.values()].flatMap((type) => type.fields.filter((field) => field.isSecret));
  return {
    version: String(membersOf(document.info).version),
    resources: resourcesOf(operations, types),
    sent: types.reachedFrom(operations.flatMap(({ body }) => body?.name ?? [])),
    answered: types.reachedFrom(operations.flatMap(({ result }) => answeredNames(result))),
    events: Object.entries(membersOf(document.webhooks)).map(([code, item]) => eventOf(code, membersOf(item))),
    errorCodes: errorCodesOf(types.schemas),
    secretFields: [...new Set(secrets.map((field) => field.name))].sort(),
  };
}

/** Named types in the operation's parameters and result. */
function namesOf({ query, body, result }: ClientOperation): string[] {
  return [...query.flatMap((field) => namesIn(field.shape)), ...(body ? [body.name] : []), ...answeredNames(result)];
}

/** Types of other resources that this one uses, by the owner's file, in order. */
export function foreignTypes(
  resource: Resource,
  { resources }: ClientModel,
  fileOf: (owner: Resource) => string,
): [string, string[]][] {
  const owners = new Map(resources.flatMap((each) => each.types.map((type) => [type.name, each] as const)));
  const ofFields = resource.types.flatMap((type) => type.fields.flatMap((field) => namesIn(field.shape)));
  const used = [...new Set([...ofFields, ...resource.operations.flatMap(namesOf)])].sort();
  const foreign = used.filter((name) => owners.get(name) !== resource);
  return [...Map.groupBy(foreign, (name) => fileOf(owners.get(name) ?? resource))].sort();
}

function answeredNames(result: Result): string[] {
  if (result.kind === "value") return namesIn(result.shape);
  return result.kind === "page" ? namesIn(result.items) : [];
}

function resourcesOf(operations: readonly ClientOperation[], types: TypeBook): Resource[] {
  const owned = new Set<string>();
  return [...Map.groupBy(operations, ({ resource }) => resource)].map(([name, own]) => {
    const used = [...types.reachedFrom(own.flatMap(namesOf))].sort();
    const ownTypes = used.flatMap((each) => types.withInner(each, owned));
    return { name, operations: own, types: ownTypes };
  });
}

function operationOf(method: string, path: string, operation: Members, types: TypeBook): ClientOperation | undefined {
  const security = membersOf([operation.security].flat()[0]);
  if ("sessionSecret" in security) return undefined;
  const id = String(operation.operationId);
  const { resource, method: name } = memberNames(id, path);
  const parameters = [operation.parameters].flat().map(membersOf);
  const query = parameters
    .filter((each) => each.in === "query")
    .map((each) => {
      const schema = { ...membersOf(each.schema), description: each.description };
      return fieldOf(`${pascalCase(id)}Query`, String(each.name), schema, each.required === true, types);
    });
  return {
    id,
    method,
    path,
    resource,
    name,
    summary: String(operation.summary),
    text: String(operation.description ?? ""),
    scope: textsOf(security.apiKey)[0],
    pathNames: pathNames(path),
    query,
    body: bodyOf(id, operation, types),
    fileTypes: fileTypesOf(operation),
    result: resultOf(id, operation, query, types),
    isIdempotent: parameters.some((each) => each.in === "header" && each.name === "Idempotency-Key"),
  };
}

function fileTypesOf({ requestBody }: Members): string[] {
  return Object.keys(membersOf(membersOf(requestBody).content)).filter((type) => type !== "application/json");
}

function bodyOf(id: string, operation: Members, types: TypeBook): ObjectType | undefined {
  if (operation.requestBody === undefined || fileTypesOf(operation).length > 0) return undefined;
  const schema = jsonOf(id, membersOf(operation.requestBody));
  const shape = shapeOf(schema, `${pascalCase(id)}Body`, types);
  const type = shape.kind === "named" ? types.all.get(shape.name) : undefined;
  if (!type) throw new Error(`${id}: its body must be an object with fields`);
  // A body without fields can be empty and is omitted.
  return type.fields.length > 0 ? type : undefined;
}

function resultOf(id: string, operation: Members, query: readonly Field[], types: TypeBook): Result {
  const successes = Object.entries(membersOf(operation.responses)).filter(([status]) => /^2\d\d$/.test(status));
  const contents = successes.map(([, response]) => membersOf(membersOf(response).content));
  const last = contents.at(-1);
  if (!last || Object.keys(last).length === 0) return { kind: "nothing" };
  if (!("application/json" in last)) return { kind: "bytes" };
  const schemas = contents.map((content) => membersOf(membersOf(content["application/json"]).schema));
  const [schema = {}, another] = schemas.toReversed();
  const data = membersOf(membersOf(schema.properties).data);
  if (data.type === "array") {
    const has = (name: string) => query.some((field) => field.name === name);
    const paging = has("after") ? "after" : has("offset") ? "offset" : "none";
    return { kind: "page", paging, items: shapeOf(membersOf(data.items), `${pascalCase(id)}Item`, types) };
  }
  const shape = shapeOf(schema, `${pascalCase(id)}Result`, types);
  return { kind: "value", shape: another ? eitherOf(id, shape, another, types) : shape };
}

/** A repeat under the same key returns less: fields that only the first response has are optional. */
function eitherOf(id: string, first: Shape, repeated: Members, types: TypeBook): Shape {
  const again = shapeOf(repeated, `${pascalCase(id)}Repeated`, types);
  const [one, other] = [first, again].map((each) => (each.kind === "named" ? types.all.get(each.name) : undefined));
  if (!one || !other) throw new Error(`${id}: both responses must be objects`);
  const isSure = (name: string) => other.fields.some((field) => field.name === name && field.isRequired);
  const fields = one.fields.map((field) => ({ ...field, isRequired: field.isRequired && isSure(field.name) }));
  const text = "A repeat under the same idempotency key has no fields that only the first response contains.";
  const name = `${pascalCase(id)}Result`;
  types.add({ name, text, fields, needsField: false });
  return { kind: "named", name };
}

function jsonOf(id: string, holder: Members): Members {
  const content = membersOf(holder.content);
  if (!("application/json" in content)) throw new Error(`${id}: ${Object.keys(content)} is not a known body type`);
  return membersOf(membersOf(content["application/json"]).schema);
}

function eventOf(code: string, item: Members): EventModel {
  const post = membersOf(item.post);
  const none: Registry = { component: () => undefined, add: () => undefined };
  const type = objectType(`${pascalCase(code)}Event`, jsonOf(code, membersOf(post.requestBody)), none);
  return { code, text: String(post.summary), type };
}

function errorCodesOf(schemas: Members): string[] {
  const envelope = membersOf(membersOf(membersOf(schemas.ApiError).properties).error);
  return textsOf(membersOf(membersOf(envelope.properties).code).enum);
}
