// Generates the Python library: a module per resource, the list of resources, events, and constants of the contract.
import { methodText } from "./comments.ts";
import { type ClientModel, type ClientOperation, foreignTypes, type Resource } from "./model.ts";
import { pascalCase, snakeCase } from "./names.ts";
import {
  answeredClass,
  argumentName,
  docString,
  type PythonNames,
  quotedWords,
  sentDict,
  typeOf,
} from "./python-types.ts";
import type { Field } from "./shape.ts";

const fileHead = '"""Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost."""\n';

/** All files by their path under gateway/clients/python/tollbooth/gen. */
export function pythonFiles(model: ClientModel): Map<string, string> {
  return new Map([
    ["__init__.py", fileHead],
    ...model.resources.map((each) => [`${moduleOf(each)}.py`, resourceModule(each, model)] as const),
    ["resources.py", resourcesModule(model)],
    ["webhook_events.py", eventsModule(model)],
    ["contract.py", contractModule(model)],
  ]);
}

const moduleOf = ({ name }: Resource) => snakeCase(name);
const classOf = ({ name }: Resource) => `${pascalCase(name)}Resource`;

/** Importable names of the library; a module imports those that its text uses. */
const libraryNames: Readonly<Record<string, readonly string[]>> = {
  typing: ["Any", "ClassVar", "Literal", "Mapping", "Sequence", "TypedDict", "Union"],
  ".._answer": ["TollboothObject"],
  ".._caller": ["Caller"],
  ".._request": ["NOT_GIVEN", "NotGiven", "fields_of", "path_of"],
  ".._page": ["Page"],
};

function resourceModule(resource: Resource, model: ClientModel): string {
  const { operations, types } = resource;
  const names: PythonNames = { sent: model.sent, answered: model.answered };
  const arguments_ = new Set(operations.flatMap(({ body }) => body?.name ?? []));
  const text = [
    ...types
      .filter(({ name }) => model.sent.has(name) && !arguments_.has(name))
      .map((type) => `\n\n${sentDict(type, names)}`),
    ...types.filter(({ name }) => model.answered.has(name)).map((type) => `\n\n${answeredClass(type, names)}`),
    `\n\nclass ${classOf(resource)}:\n    def __init__(self, caller: Caller) -> None:\n        self._caller = caller\n`,
    ...operations.map((operation) => `\n${methodOf(operation, names)}`),
  ].join("");
  const foreign = foreignTypes(resource, model, (owner) => `.${moduleOf(owner)}`);
  return fileHead + imports(text, { ...libraryNames, ...Object.fromEntries(foreign) }) + text;
}

function imports(text: string, modules: Readonly<Record<string, readonly string[]>>): string {
  const code = text.replace(/"""[\s\S]*?"""/g, "");
  const lines = Object.entries(modules).flatMap(([module, names]) => {
    const needed = names.filter((name) => new RegExp(`\\b${name}\\b`).test(code));
    return needed.length === 0 ? [] : [`from ${module} import ${needed.join(", ")}\n`];
  });
  const own = lines.filter((line) => !line.startsWith("from ."));
  const others = lines.filter((line) => line.startsWith("from ."));
  return ["\nfrom __future__ import annotations\n", ...(own.length > 0 ? ["\n", ...own] : []), "\n", ...others].join(
    "",
  );
}

function methodOf(operation: ClientOperation, names: PythonNames): string {
  const { name, pathNames, query, body, fileTypes, isIdempotent } = operation;
  const fields = [...(body?.fields ?? []), ...query];
  const required = fields.filter((field) => field.isRequired);
  const optional = fields.filter((field) => !field.isRequired);
  const positional = pathNames.map((each) => `${snakeCase(each)}: str`);
  const parameters = [
    "self",
    ...(positional.length > 0 ? [...positional, "/"] : []),
    "*",
    ...(fileTypes.length > 0 ? ["file: bytes", `content_type: Literal[${quotedWords(fileTypes)}]`] : []),
    ...required.map((field) => parameterOf(field, names)),
    ...optional.map((field) => parameterOf(field, names)),
    ...(isIdempotent ? ["idempotency_key: str | None = None"] : []),
    "timeout: float | None = None",
  ];
  return [
    `    def ${snakeCase(name)}(\n${parameters.map((each) => `        ${each},\n`).join("")}    ) -> ${returned(operation)}:\n`,
    docString(methodDoc(operation, fields).replaceAll("`null`", "`None`"), "        "),
    sendingOf(operation),
  ].join("");
}

function methodDoc(operation: ClientOperation, fields: readonly Field[]): string {
  const [summary = "", ...rest] = methodText(operation).split("\n");
  const argumentDocs = fields
    .filter(({ text }) => text !== "")
    .map((field) => `\`${argumentName(field.name)}\`: ${field.text}`);
  return [summary, "", ...rest, ...(argumentDocs.length > 0 ? ["", ...argumentDocs] : [])].join("\n");
}

/** None means "not given", except for a field that it clears. */
function parameterOf({ name, shape, isRequired, isClearable }: Field, names: PythonNames): string {
  const type = typeOf(shape, "sent", names);
  const argument = argumentName(name);
  if (isRequired) return `${argument}: ${type}${isClearable ? " | None" : ""}`;
  return isClearable ? `${argument}: ${type} | None | NotGiven = NOT_GIVEN` : `${argument}: ${type} | None = None`;
}

function sendingOf(operation: ClientOperation): string {
  const { method, path, pathNames, query, body, fileTypes, result, isIdempotent, scope } = operation;
  let turn = 0;
  const parts = path.split("/").slice(1);
  const ids = parts.map((segment) =>
    segment.startsWith("{") ? snakeCase(pathNames[turn++] ?? "") : JSON.stringify(segment),
  );
  const kind = result.kind === "value" ? result.shape : result.kind === "page" ? result.items : undefined;
  const call = [
    ...(kind?.kind === "named" ? [kind.name] : []),
    JSON.stringify(method),
    pathNames.length > 0 ? `path_of(${ids.join(", ")})` : JSON.stringify(path),
    ...(query.length > 0 ? [`query=${bodyExpression(query)}`] : []),
    ...(body ? [`body=${bodyExpression(body.fields)}`] : []),
    ...(fileTypes.length > 0 ? ["file=(file, content_type)"] : []),
    ...(result.kind === "page" ? [`paging="${result.paging}"`] : []),
    ...(isIdempotent ? ["is_idempotent=True", "idempotency_key=idempotency_key"] : []),
    ...(scope === undefined ? ["is_open=True"] : []),
    "timeout=timeout",
  ];
  const verb = { value: "send", page: "list", nothing: "send_for_nothing", bytes: "send_for_bytes" }[result.kind];
  return `        return self._caller.${verb}(\n${call.map((each) => `            ${each},\n`).join("")}        )\n`;
}

function bodyExpression(fields: readonly Field[]): string {
  const clearable = fields.filter((field) => field.isClearable && !field.isRequired);
  const entries = fields.map(({ name }) => `                "${name}": ${argumentName(name)},\n`);
  const keeps = clearable.length > 0 ? `, (${clearable.map(({ name }) => `"${name}", `).join("")})` : "";
  return `fields_of({\n${entries.join("")}            }${keeps})`;
}

function returned({ id, result }: ClientOperation): string {
  if (result.kind === "nothing") return "None";
  if (result.kind === "bytes") return "bytes";
  const shape = result.kind === "page" ? result.items : result.shape;
  if (shape.kind !== "named") throw new Error(`${id}: its result must be an object`);
  return result.kind === "page" ? `Page[${shape.name}]` : shape.name;
}

function resourcesModule({ resources, answered, sent }: ClientModel): string {
  const sorted = [...resources].sort((a, b) => (moduleOf(a) < moduleOf(b) ? -1 : 1));
  const bodies = new Set(resources.flatMap(({ operations }) => operations.flatMap(({ body }) => body?.name ?? [])));
  const exported = (resource: Resource) => [
    ...resource.types.filter(({ name }) => answered.has(name)).map(({ name }) => name),
    ...resource.types
      .filter(({ name }) => sent.has(name) && !bodies.has(name))
      .map(({ name }) => (answered.has(name) ? `${name}Params` : name)),
    classOf(resource),
  ];
  const lines = sorted.map((each) => `from .${moduleOf(each)} import ${exported(each).join(", ")}\n`);
  const all = sorted.flatMap(exported).map((name) => `    "${name}",\n`);
  return [
    fileHead,
    "\nfrom __future__ import annotations\n\nfrom .._caller import Caller\n",
    ...lines,
    `\n__all__ = [\n    "Resources",\n${all.join("")}]\n`,
    '\n\nclass Resources:\n    """One object for each noun of the API."""\n\n',
    "    def __init__(self, caller: Caller) -> None:\n",
    ...resources.map((each) => `        self.${moduleOf(each)} = ${classOf(each)}(caller)\n`),
  ].join("");
}

function eventsModule({ events, sent, answered }: ClientModel): string {
  const names: PythonNames = { sent, answered };
  const text = [
    ...events.map(({ type, text: fires }) => `\n\n${answeredClass({ ...type, text: fires }, names)}`),
    '\n\nclass UnknownEvent(TollboothObject):\n    """An event of a type that is newer than this library: acknowledge and ignore it."""\n\n',
    '    __slots__ = ()\n    type: Literal["newer than this library"]\n    """For type checkers; the value is the event\'s own."""\n\n',
    "    if TYPE_CHECKING:\n\n        def __getattr__(self, name: str) -> Any: ...\n",
    `\n\nWebhookEvent = Union[\n${events.map(({ type }) => `    ${type.name},\n`).join("")}    UnknownEvent,\n]\n`,
    `\n_KINDS: Mapping[str, type[Any]] = {\n${events.map(({ code, type }) => `    "${code}": ${type.name},\n`).join("")}}\n`,
    "\n\ndef event_of(body: Mapping[str, Any]) -> WebhookEvent:\n",
    '    """The event of a verified body."""\n',
    '    event: WebhookEvent = _KINDS.get(body["type"], UnknownEvent)(body)\n    return event\n',
  ].join("");
  const all = [...events.map(({ type }) => type.name), "UnknownEvent", "WebhookEvent"];
  const exported = `\n__all__ = [\n${all.map((name) => `    "${name}",\n`).join("")}]\n`;
  const needed = { ...libraryNames, typing: ["TYPE_CHECKING", ...(libraryNames.typing ?? [])] };
  return fileHead + imports(text, needed) + exported + text;
}

function contractModule({ version, errorCodes, secretFields }: ClientModel): string {
  return [
    fileHead,
    "\nfrom __future__ import annotations\n\nfrom typing import Final, Literal, Union\n",
    `\nVERSION: Final = "${version}"\n"""Version of this library and of its API."""\n`,
    `\nErrorCode = Union[\n    Literal[\n${errorCodes.map((code) => `        "${code}",\n`).join("")}    ],\n    str,\n]\n`,
    '"""Values of an error\'s `code`; there may be further ones."""\n',
    `\nSECRET_FIELDS: Final = frozenset(\n    {\n${secretFields.map((name) => `        "${name}",\n`).join("")}    }\n)\n`,
    '"""Secret fields of responses, hidden when a response is printed."""\n',
  ].join("");
}
