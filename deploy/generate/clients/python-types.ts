// Python types of the document's objects: a class for a response, a TypedDict for an object inside a request.
import { columnsMax, wrapText } from "./comments.ts";
import type { Field, ObjectType, Shape } from "./shape.ts";
import { namesIn } from "./type-book.ts";

/** Direction of named types; one that is both sent and received has two forms. */
export interface PythonNames {
  readonly sent: ReadonlySet<string>;
  readonly answered: ReadonlySet<string>;
}

export type Direction = "sent" | "answered";

const keywords = new Set(
  "and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return self try while with yield".split(
    " ",
  ),
);

/** Avoids Python's keywords, such as `from`. */
export function argumentName(name: string): string {
  return keywords.has(name) ? `${name}_` : name;
}

export function typeOf(shape: Shape, direction: Direction, names: PythonNames): string {
  switch (shape.kind) {
    case "text":
      return "str";
    case "number":
      return "int";
    case "truth":
      return "bool";
    case "json":
      return "Any";
    case "constant":
      return `Literal["${shape.value}"]`;
    case "either":
      return shape.options.map((each) => typeOf(each, direction, names)).join(" | ");
    case "words": {
      const words = `Literal[${quotedWords(shape.words)}]`;
      return shape.isOpen || direction === "answered" ? `${words} | str` : words;
    }
    case "list":
      return `${direction === "sent" ? "Sequence" : "list"}[${typeOf(shape.items, direction, names)}]`;
    case "map":
      return `${direction === "sent" ? "Mapping" : "dict"}[str, ${typeOf(shape.values, direction, names)}]`;
    case "named":
      return direction === "sent" && names.answered.has(shape.name) ? `${shape.name}Params` : shape.name;
  }
}

export function quotedWords(words: readonly string[]): string {
  return words.map((value) => `"${value}"`).join(", ");
}

/** A class whose fields are attributes. */
export function answeredClass({ name, text, fields }: ObjectType, names: PythonNames): string {
  const nested = fields.flatMap((field) => namesIn(field.shape).map((inner) => `"${field.name}": ${inner}`));
  const attributes = fields.filter(({ name: field }) => !keywords.has(field));
  return [
    `class ${name}(TollboothObject):\n`,
    text === "" ? "" : `${docString(text, "    ")}\n`,
    "    __slots__ = ()\n",
    nested.length > 0
      ? `    _nested: ClassVar[Mapping[str, type[TollboothObject]]] = {\n${nested.map((each) => `        ${each},\n`).join("")}    }\n`
      : "",
    ...attributes.map((field) => attributeOf(field, "answered", names)),
  ].join("");
}

/** Optional fields are in a class of their own, since Python 3.10 has no NotRequired. */
export function sentDict({ name, text, fields }: ObjectType, names: PythonNames): string {
  const own = names.answered.has(name) ? `${name}Params` : name;
  const needed = fields.filter((field) => field.isRequired);
  const optional = fields.filter((field) => !field.isRequired);
  const body = (of: readonly Field[]) => of.map((field) => attributeOf(field, "sent", names)).join("");
  const doc = text === "" ? "" : docString(text, "    ");
  if (optional.length === 0) return `class ${own}(TypedDict):\n${doc}${body(needed)}`;
  if (needed.length === 0) return `class ${own}(TypedDict, total=False):\n${doc}${body(optional)}`;
  return [
    `class _${own}Needed(TypedDict):\n${body(needed)}\n\n`,
    `class ${own}(_${own}Needed, total=False):\n${doc}${body(optional)}`,
  ].join("");
}

function attributeOf(
  { name, shape, isRequired, isClearable, text }: Field,
  direction: Direction,
  names: PythonNames,
): string {
  const allowsNone = direction === "answered" ? !isRequired || isClearable : isClearable;
  const type = `${typeOf(shape, direction, names)}${allowsNone ? " | None" : ""}`;
  return `    ${name}: ${type}\n${docString(text, "    ")}`;
}

/** A docstring; empty without text. */
export function docString(text: string, indent: string): string {
  if (text === "") return "";
  const safe = text.replaceAll("\\", "\\\\").replaceAll('"""', "'''");
  const ends = safe.endsWith('"') ? " " : "";
  if (!safe.includes("\n") && indent.length + safe.length + 6 <= columnsMax) return `${indent}"""${safe}${ends}"""\n`;
  const lines = wrapText(safe, columnsMax - indent.length - 3);
  const [first = "", ...rest] = lines;
  return `${[`${indent}"""${first}`, ...rest.map((line) => (line === "" ? "" : indent + line))].join("\n")}\n${indent}"""\n`;
}
