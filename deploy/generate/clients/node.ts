// Generates the Node library: a file per resource with its types and class, the list of resources, events, and
// constants of the contract.
import { docComment, methodText } from "./comments.ts";
import { type ClientModel, type ClientOperation, foreignTypes, type Resource } from "./model.ts";
import { kebabCase, pascalCase } from "./names.ts";
import type { Field, ObjectType, Shape } from "./shape.ts";

const fileHead = "// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.\n";

/** All files by their path under gateway/clients/node/gen. */
export function nodeFiles(model: ClientModel): Map<string, string> {
  return new Map([
    ...model.resources.map((each) => [`${fileOf(each)}.ts`, resourceFile(each, model)] as const),
    ["resources.ts", resourcesFile(model)],
    ["webhook-events.ts", eventsFile(model)],
    ["contract.ts", contractFile(model)],
  ]);
}

const fileOf = ({ name }: Resource) => kebabCase(name);
const classOf = ({ name }: Resource) => `${pascalCase(name)}Resource`;

function resourceFile(resource: Resource, model: ClientModel): string {
  const { operations, types } = resource;
  const queries = operations.filter(({ query }) => query.length > 0).map(queryType);
  const imports = [
    `import type { ${callerNames(operations).join(", ")} } from "../caller.ts";\n`,
    ...(operations.some(isList) ? ['import type { List } from "../page.ts";\n'] : []),
    ...(operations.some(({ pathNames }) => pathNames.length > 0) ? ['import { path } from "../path.ts";\n'] : []),
    ...foreignTypes(resource, model, fileOf).map(
      ([file, names]) => `import type { ${names.join(", ")} } from "./${file}.ts";\n`,
    ),
  ];
  return [
    fileHead,
    ...imports,
    ...types.map((type) => `\n${interfaceOf(type, model.sent.has(type.name) && !model.answered.has(type.name))}`),
    ...queries.map((type) => `\n${interfaceOf(type, true)}`),
    `\nexport class ${classOf(resource)} {\n  readonly #caller: Caller;\n\n`,
    "  constructor(caller: Caller) {\n    this.#caller = caller;\n  }\n",
    ...operations.map((operation) => `\n${methodOf(operation)}`),
    "}\n",
  ].join("");
}

const isList = ({ result }: ClientOperation) => result.kind === "page";

function callerNames(operations: readonly ClientOperation[]): string[] {
  const isKeyed = operations.some(({ isIdempotent }) => isIdempotent);
  const isPlain = operations.some(({ isIdempotent }) => !isIdempotent);
  return ["Caller", ...(isKeyed ? ["IdempotentOptions"] : []), ...(isPlain ? ["RequestOptions"] : [])];
}

function queryType({ id, query, summary }: ClientOperation): ObjectType {
  return {
    name: `${pascalCase(id)}Query`,
    text: `Filters and pages of "${summary}".`,
    fields: query,
    needsField: false,
  };
}

function interfaceOf({ name, text, fields }: ObjectType, isSent: boolean): string {
  const lines = fields.map((field) => fieldOf(field, isSent)).join("");
  return `${docComment(text, "")}export interface ${name} {\n${lines}}\n`;
}

function fieldOf({ name, shape, isRequired, isClearable, text }: Field, isSent: boolean): string {
  const type = `${typeOf(shape, isSent)}${isClearable ? " | null" : ""}`;
  const whole = isRequired || !isSent ? type : `${type} | undefined`;
  return `${docComment(text, "  ")}  ${name}${isRequired ? "" : "?"}: ${whole};\n`;
}

/** Received values may be new strings; sent values may not, unless the document permits it. */
function typeOf(shape: Shape, isSent: boolean): string {
  switch (shape.kind) {
    case "text":
      return "string";
    case "number":
      return "number";
    case "truth":
      return "boolean";
    case "json":
      return "unknown";
    case "constant":
      return JSON.stringify(shape.value);
    case "either":
      return shape.options.map((each) => typeOf(each, isSent)).join(" | ");
    case "words": {
      const words = wordsOf(shape.words);
      return shape.isOpen || !isSent ? `${words} | (string & {})` : words;
    }
    case "list": {
      const items = typeOf(shape.items, isSent);
      return items.includes("|") ? `(${items})[]` : `${items}[]`;
    }
    case "map":
      return `Record<string, ${typeOf(shape.values, isSent)}>`;
    case "named":
      return shape.name;
  }
}

function wordsOf(words: readonly string[]): string {
  return words.map((value) => JSON.stringify(value)).join(" | ");
}

function methodOf(operation: ClientOperation): string {
  const { id, name, method, path, pathNames, query, body, fileTypes, result, isIdempotent, scope } = operation;
  const needsBody = body !== undefined && (body.needsField || body.fields.some((field) => field.isRequired));
  const parameters = [
    ...pathNames.map((each) => `${each}: string`),
    ...(body ? [`body: ${body.name}${needsBody ? "" : " = {}"}`] : []),
    ...(fileTypes.length > 0 ? ["file: Uint8Array", `contentType: ${wordsOf(fileTypes)}`] : []),
    ...(query.length > 0 ? [`query: ${pascalCase(id)}Query = {}`] : []),
    `options?: ${isIdempotent ? "IdempotentOptions" : "RequestOptions"}`,
  ];
  let turn = 0;
  const filled = path.replace(/\{\w+\}/g, () => `\${${pathNames[turn++]}}`);
  const request = [
    `method: "${method}"`,
    `path: ${pathNames.length > 0 ? `path\`${filled}\`` : `"${path}"`}`,
    ...(query.length > 0 ? ["query"] : []),
    ...(body ? ["body"] : []),
    ...(fileTypes.length > 0 ? ["file: { content: file, type: contentType }"] : []),
    ...(isIdempotent ? ["isIdempotent: true"] : []),
    ...(scope === undefined ? ["isOpen: true"] : []),
    ...(result.kind === "bytes" ? ["isBytes: true"] : []),
    ...(result.kind === "page" ? [`paging: "${result.paging}"`] : []),
  ];
  return [
    docComment(methodText(operation), "  "),
    `  ${name}(\n${parameters.map((each) => `    ${each},\n`).join("")}  ): ${returned(operation)} {\n`,
    `    return this.#caller.${result.kind === "page" ? "list" : "send"}(\n`,
    `      { ${request.join(", ")} },\n      options,\n    );\n  }\n`,
  ].join("");
}

function returned({ result }: ClientOperation): string {
  switch (result.kind) {
    case "nothing":
      return "Promise<void>";
    case "bytes":
      return "Promise<Uint8Array>";
    case "page":
      return `List<${typeOf(result.items, false)}>`;
    case "value":
      return `Promise<${typeOf(result.shape, false)}>`;
  }
}

function resourcesFile({ resources }: ClientModel): string {
  const sorted = [...resources].sort((a, b) => (fileOf(a) < fileOf(b) ? -1 : 1));
  return [
    fileHead,
    'import type { Caller } from "../caller.ts";\n',
    ...sorted.map((each) => `import { ${classOf(each)} } from "./${fileOf(each)}.ts";\n`),
    "\n",
    ...sorted.map((each) => `export * from "./${fileOf(each)}.ts";\n`),
    "\n/** One object for each noun of the API. */\nexport class Resources {\n",
    ...resources.map((each) => `  readonly ${each.name}: ${classOf(each)};\n`),
    "\n  constructor(caller: Caller) {\n",
    ...resources.map((each) => `    this.${each.name} = new ${classOf(each)}(caller);\n`),
    "  }\n}\n",
  ].join("");
}

function eventsFile({ events }: ClientModel): string {
  return [
    fileHead,
    ...events.map(({ type, text }) => `\n${interfaceOf({ ...type, text }, false)}`),
    "\n/**\n * An event of a type that is newer than this library. `type` is the sent type, but declared as a text that no event\n",
    " * has, which lets TypeScript discriminate the known ones: read it as `String(event.type)`.\n */\n",
    'export interface UnknownEvent {\n  type: "newer than this library";\n  [field: string]: unknown;\n}\n',
    "\n/** Discriminated by `type`; acknowledge and ignore other types. */\n",
    `export type WebhookEvent =\n${events.map(({ type }) => `  | ${type.name}\n`).join("")}  | UnknownEvent;\n`,
  ].join("");
}

function contractFile({ version, errorCodes, secretFields }: ClientModel): string {
  return [
    fileHead,
    `\n/** Version of this library and of its API. */\nexport const version = "${version}";\n`,
    "\n/** Values of an error's `code`; there may be further ones. */\nexport type ErrorCode =\n",
    ...errorCodes.map((code) => `  | "${code}"\n`),
    "  | (string & {});\n",
    "\n/** Secret fields of responses, hidden when a response is printed. */\n",
    "export const secretFields: ReadonlySet<string> = new Set([\n",
    ...secretFields.map((name) => `  "${name}",\n`),
    "]);\n",
  ].join("");
}
