// A call in three languages: curl, and our libraries for Node and Python. Each sample is a whole program that runs once
// the two variables are set.
import { type Members, membersOf } from "#platform/values/unchecked.ts";
import type { ClientOperation } from "../../clients/model.ts";
import { snakeCase } from "../../clients/names.ts";
import type { Sample } from "../code-blocks.ts";
import type { ApiOperation, Parameter } from "./api-operation.ts";
import { type CallExample, callExamples } from "./call-examples.ts";

const widthMax = 76;

/** @param client undefined: browsers call the operation, and the libraries do not have it */
export function callSamples(operation: ApiOperation, client: ClientOperation | undefined): Sample[] {
  const example = callExamples[operation.id] ?? {};
  const curl = { language: "bash", code: curlCall(operation, example) };
  if (!client) return [curl];
  return [
    curl,
    { language: "js", code: nodeCall(operation, client, example) },
    { language: "python", code: pythonCall(operation, client, example) },
  ];
}

/** A parameter's example. */
export function exampleOf({ name, schema }: Parameter): string {
  const [example] = [schema.examples].flat();
  if (typeof example !== "string" && typeof example !== "number") throw new Error(`${name} has no example`);
  return String(example);
}

function filledPath({ path, pathParameters }: ApiOperation): string {
  return pathParameters.reduce((filled, each) => filled.replace(`{${each.name}}`, exampleOf(each)), path);
}

function curlCall(operation: ApiOperation, { body, query, idempotencyKey }: CallExample): string {
  const { method, access, fileTypes, isIdempotent } = operation;
  const words = Object.entries(query ?? {}).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  if (access === "secret") words.push("secret=$SESSION_SECRET");
  const address = `"$TOLLBOOTH_URL${filledPath(operation)}${words.length > 0 ? `?${words.join("&")}` : ""}"`;
  const sends = body !== undefined || fileTypes.length > 0;
  const verb = method === "GET" || (method === "POST" && sends) ? "" : ` -X ${method}`;
  const lines = [`curl -sS${verb} ${address}`];
  if (access === "key") lines.push(`-H "Authorization: Bearer $TOLLBOOTH_KEY"`);
  if (isIdempotent && idempotencyKey) lines.push(`-H "Idempotency-Key: ${idempotencyKey}"`);
  if (body) lines.push(`-H "Content-Type: application/json"`, `-d '${shellJson(body)}'`);
  if (fileTypes.length > 0) lines.push(`-H "Content-Type: ${fileTypes[0]}"`, "--data-binary @receipt.pdf");
  return lines.join(" \\\n  ");
}

function shellJson(body: Members): string {
  const line = JSON.stringify(body);
  return line.length <= 70 ? line : JSON.stringify(body, null, 2).replaceAll("\n", "\n  ");
}

function nodeCall(operation: ApiOperation, client: ClientOperation, example: CallExample): string {
  const { body, query, idempotencyKey } = example;
  const words = [
    ...operation.pathParameters.map((each) => JSON.stringify(exampleOf(each))),
    ...(client.fileTypes.length > 0 ? ["file", JSON.stringify(client.fileTypes[0])] : []),
    ...(body ? [scriptLiteral(body)] : client.body && idempotencyKey ? ["{}"] : []),
    ...(query ? [scriptLiteral(query)] : []),
    ...(idempotencyKey ? [scriptLiteral({ idempotencyKey })] : []),
  ];
  const call = `tollbooth.${client.resource}.${client.name}`;
  return [
    ...(client.fileTypes.length > 0 ? ['import { readFileSync } from "node:fs";'] : []),
    'import { Tollbooth } from "@tollbooth/node";\n',
    nodeClient(operation),
    ...(client.fileTypes.length > 0 ? ['const file = readFileSync("receipt.pdf");'] : []),
    nodeUse(client, calling(call, words)),
  ].join("\n");
}

const nodeClient = ({ access }: ApiOperation) =>
  access === "open"
    ? "const tollbooth = new Tollbooth({ baseUrl: process.env.TOLLBOOTH_URL });"
    : [
        "const tollbooth = new Tollbooth({",
        "  apiKey: process.env.TOLLBOOTH_KEY,",
        "  baseUrl: process.env.TOLLBOOTH_URL,",
        "});",
      ].join("\n");

/** Reads a list to its end, prints any other result. */
function nodeUse({ result }: ClientOperation, call: string): string {
  if (result.kind === "page") return `for await (const each of ${call}) {\n  console.log(each);\n}`;
  return result.kind === "nothing" ? `await ${call};` : `console.log(await ${call});`;
}

/** Puts the arguments on one line or one on each. */
function calling(call: string, words: readonly string[]): string {
  const line = `${call}(${words.join(", ")})`;
  if (line.length <= 70 && !line.includes("\n")) return line;
  if (words.length === 1) return line; // a single object breaks itself
  return `${call}(\n${words.map((arg) => `  ${arg.replaceAll("\n", "\n  ")},\n`).join("")})`;
}

function pythonCall(operation: ApiOperation, client: ClientOperation, example: CallExample): string {
  const { body, query, idempotencyKey } = example;
  const fields = { ...body, ...query, ...(idempotencyKey && { idempotency_key: idempotencyKey }) };
  const words = [
    ...operation.pathParameters.map((each) => JSON.stringify(exampleOf(each))),
    ...(client.fileTypes.length > 0 ? ["file=file", `content_type="${client.fileTypes[0]}"`] : []),
    ...Object.entries(fields).map(([name, value]) => `${name === "from" ? "from_" : name}=${pythonLiteral(value, 4)}`),
  ];
  const call = pythonCalling(`tollbooth.${snakeCase(client.resource)}.${snakeCase(client.name)}`, words);
  return [
    "import os\n",
    "from tollbooth import Tollbooth\n",
    pythonClient(operation),
    ...(client.fileTypes.length > 0 ? ['with open("receipt.pdf", "rb") as receipt:\n    file = receipt.read()'] : []),
    client.result.kind === "page"
      ? `for each in ${call}:\n    print(each)`
      : client.result.kind === "nothing"
        ? call
        : `print(${call})`,
  ].join("\n");
}

const pythonClient = ({ access }: ApiOperation) =>
  [
    "tollbooth = Tollbooth(",
    ...(access === "open" ? [] : ['    api_key=os.environ["TOLLBOOTH_KEY"],']),
    '    base_url=os.environ["TOLLBOOTH_URL"],',
    ")",
  ].join("\n");

function pythonCalling(call: string, words: readonly string[]): string {
  const line = `${call}(${words.join(", ")})`;
  if (line.length <= 70 && !line.includes("\n")) return line;
  return `${call}(\n${words.map((arg) => `    ${arg},\n`).join("")})`;
}

/** JSON as a JavaScript literal, broken over lines if wide. */
function scriptLiteral(value: unknown): string {
  return literal(value, 0, (name) => (/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)), ["{ ", " }"]);
}

/** Unlike JSON, keeps lists and objects with one entry on their line. */
function pythonLiteral(value: unknown, indent: number): string {
  return literal(value, indent, (name) => JSON.stringify(name), ["{", "}"], 4);
}

function literal(
  value: unknown,
  indent: number,
  nameOf: (name: string) => string,
  braces: readonly [string, string],
  step = 2,
): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const inner = (each: unknown) => literal(each, indent + step, nameOf, braces, step);
  const parts = isList
    ? value.map(inner)
    : Object.entries(membersOf(value)).map(([name, each]) => `${nameOf(name)}: ${inner(each)}`);
  const [open, close] = isList ? (["[", "]"] as const) : braces;
  const line = `${open}${parts.join(", ")}${close}`;
  if (indent + line.length <= widthMax && !line.includes("\n")) return line;
  const pad = " ".repeat(indent + step);
  return `${open.trim()}\n${parts.map((entry) => `${pad}${entry},\n`).join("")}${" ".repeat(indent)}${close.trim()}`;
}
