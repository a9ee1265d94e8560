// `npm run generate -- proto` also writes docs/rpc: a page for each package of the internal API, from the comments and
// options of its protos. The pages are committed; test/tidy.test.ts checks that they are fresh.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createFileRegistry,
  type DescEnum,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescMethod,
  fromBinary,
  getOption,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, MethodOptions_IdempotencyLevel as Level } from "@bufbuild/protobuf/wkt";
import { allowedCallers } from "#platform/secrets/callers.ts";
import { callers, service_callers } from "#proto/access/v1/access_pb.ts";

const root = join(import.meta.dirname, "../..");
const bytesMax = 16 << 20;

/** The pages by file name. */
export function rpcPages(): Map<string, string> {
  const image = execFileSync(join(root, "node_modules/.bin/buf"), ["build", "-o", "-", "--as-file-descriptor-set"], {
    cwd: root,
    maxBuffer: bytesMax,
  });
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
  const files = [...registry.files].filter((file) => !/^(buf|google|grpc)\//.test(file.name));
  const withServices = files.filter((file) => file.services.length > 0).sort((a, b) => a.name.localeCompare(b.name));
  const pages = withServices.map((file) => [`${pageName(file)}.md`, page(file)] as const);
  const shared = files.filter((file) => file.services.length === 0).sort((a, b) => a.name.localeCompare(b.name));
  return new Map([...pages, ["README.md", overview(withServices, shared)]]);
}

function pageName(file: DescFile): string {
  return file.name.replace(/^(\w+)\/v1\/(\w+)$/, (_all, pack: string, name: string) =>
    pack === name ? pack : `${pack}-${name}`,
  );
}

function overview(files: DescFile[], shared: DescFile[]): string {
  const lines = files.flatMap((file) =>
    file.services.map(
      (service) =>
        `| [${service.typeName}](${pageName(file)}.md) | ${oneLine(commentOf(service.file, servicePath(service.file, service.name)))} |`,
    ),
  );
  const kept = shared.flatMap((file) => [
    `\n## ${file.proto.package}\n`,
    ...file.enums.map((each) => enumSection(each)),
    ...file.messages.map((each) => messageSection(each)),
  ]);
  return `# The internal API\n\nWritten from the protos by \`npm run generate -- proto\`; how to call it: [the internal API](../internal-api.md).\n\n| Service | What it is |\n|---|---|\n${lines.join("\n")}\n${kept.join("\n")}`;
}

function page(file: DescFile): string {
  const parts = file.services.flatMap((service) => [
    `# ${service.typeName}\n\n${commentOf(file, servicePath(file, service.name))}\n`,
    ...service.methods.map((method) => methodSection(file, method)),
  ]);
  const messages = file.messages.map((message) => messageSection(message));
  const enums = file.enums.map((each) => enumSection(each));
  return `${[...parts, "## Messages\n", ...messages, ...enums].join("\n").trimEnd()}\n`;
}

function methodSection(file: DescFile, method: DescMethod): string {
  const path = [...servicePath(file, method.parent.name), 2, method.parent.methods.indexOf(method)];
  const own = getOption(method, callers);
  const who = own.length > 0 || getOption(method.parent, service_callers).length > 0 ? [...allowedCallers(method)] : [];
  return [
    `## ${method.name}\n`,
    `${commentOf(file, path)}\n`,
    `- Callers: ${who.join(", ") || "nobody"}`,
    `- ${repeatable(method)}`,
    `- Request: ${linkTo(method.input, file)}; response: ${linkTo(method.output, file)}`,
    `- \`POST /${method.parent.typeName}/${method.name}\`\n`,
  ].join("\n");
}

function repeatable(method: DescMethod): string {
  if (method.idempotency === Level.NO_SIDE_EFFECTS)
    return "Reads only: may be repeated, and our client does so once when the peer was away";
  if (method.idempotency === Level.IDEMPOTENT) return "May be repeated: the same request changes nothing more";
  return "Must not be repeated blindly, unless it carries an idempotency key";
}

function messageSection(message: DescMessage): string {
  const rows = message.fields.map(
    (field) =>
      `| \`${field.name}\` | ${typeOf(field)} | ${oneLine(commentOf(message.file, [...messagePath(message), 2, message.fields.indexOf(field)]))} |`,
  );
  const table = rows.length > 0 ? `\n| Field | Type | |\n|---|---|---|\n${rows.join("\n")}\n` : "";
  return `### ${message.name}\n\n${commentOf(message.file, messagePath(message))}\n${table}`;
}

function enumSection(each: DescEnum): string {
  const path = [5, each.file.enums.indexOf(each)];
  const rows = each.values.map(
    (value, i) => `| \`${value.name}\` | ${value.number} | ${oneLine(commentOf(each.file, [...path, 2, i]))} |`,
  );
  return `### ${each.name}\n\n${commentOf(each.file, path)}\n\n| Value | Number | |\n|---|---|---|\n${rows.join("\n")}\n`;
}

function typeOf(field: DescField): string {
  const one = (type: { typeName: string } | undefined, scalar: string) =>
    (type ? type.typeName.split(".").at(-1) : scalar) ?? "";
  const proto = field.proto.typeName ? { typeName: field.proto.typeName } : undefined;
  if (field.fieldKind === "map") return "map of text";
  const name = one(proto, scalarNames[field.proto.type] ?? "");
  if (field.fieldKind === "list") return `list of ${name}`;
  return field.proto.proto3Optional ? `${name}, optional` : name;
}

/** By the numbers of descriptor.proto. */
const scalarNames: Readonly<Record<number, string>> = {
  1: "double",
  3: "int64",
  4: "uint64",
  5: "int32",
  8: "bool",
  9: "string",
  12: "bytes",
  13: "uint32",
};

function linkTo(message: DescMessage, from: DescFile): string {
  return message.file === from ? `[${message.name}](#${message.name.toLowerCase()})` : `\`${message.typeName}\``;
}

function servicePath(file: DescFile, name: string): number[] {
  return [6, file.services.findIndex((service) => service.name === name)];
}

function messagePath(message: DescMessage): number[] {
  if (!message.parent) return [4, message.file.messages.indexOf(message)];
  return [...messagePath(message.parent), 3, message.parent.nestedMessages.indexOf(message)];
}

/** The comment before an element, by its path in the descriptor. */
function commentOf(file: DescFile, path: readonly number[]): string {
  const wanted = path.join(".");
  const found = file.proto.sourceCodeInfo?.location.find((location) => location.path.join(".") === wanted);
  return (found?.leadingComments ?? "")
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .trim();
}

/** For a cell of a table. */
function oneLine(text: string): string {
  return text.replaceAll("\n", " ").replaceAll("|", "\\|");
}

if (import.meta.main) {
  const dir = join(root, "docs/rpc");
  mkdirSync(dir, { recursive: true });
  for (const name of readdirSync(dir).filter((each) => each.endsWith(".md"))) rmSync(join(dir, name));
  for (const [name, text] of rpcPages()) writeFileSync(join(dir, name), text);
}
