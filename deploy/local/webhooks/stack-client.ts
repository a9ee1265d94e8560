// The running local stack for other commands: its description, and its public API with the sandbox merchant's key.
// Errors that the user can act on are one line (StartError).
import { resolve } from "node:path";
import { stackFile } from "../stack-file.ts";
import { reasonOf, StartError } from "../start-error.ts";
import { readObject } from "../state/private-file.ts";
import type { TlsFiles } from "../state/tls.ts";

export interface StackClient {
  readonly tls: TlsFiles;
  /** Calls the public API. @returns the response's JSON object @throws StartError with the API's own message */
  call(method: "GET" | "POST" | "DELETE", path: string, body?: object): Promise<JsonObject>;
}

export type JsonObject = Readonly<Record<string, unknown>>;

const callMaxMs = 15_000; // longer than any deadline of the gateway

/** @param env STATE_DIR selects the stack, as for `npm start` @throws StartError if none is running there */
export async function openStack(env: NodeJS.ProcessEnv): Promise<StackClient> {
  const path = stackFile(resolve(env.STATE_DIR || ".local"));
  const stack = await readObject(path);
  if (!stack) throw new StartError(`no stack is running (${path} is missing): run npm start in another terminal`);
  const { gateway, api_key: key } = { gateway: String(stack.gateway), api_key: String(stack.api_key) };
  const tls = asObject(stack.tls);
  return {
    tls: { ca: String(tls.ca), cert: String(tls.cert), key: String(tls.key) },
    call: (method, path, body) => call(new URL(path, gateway), method, key, body),
  };
}

async function call(url: URL, method: string, key: string, body: object | undefined): Promise<JsonObject> {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body ? { "content-type": "application/json" } : {}) },
    signal: AbortSignal.timeout(callMaxMs),
    ...(body ? { body: JSON.stringify(body) } : {}),
  }).catch((error) => {
    throw new StartError(
      `the stack does not answer at ${url.origin} (${reasonOf(error)}): is npm start still running?`,
    );
  });
  const text = await answer.text();
  const answerBody = text === "" ? {} : asObject(JSON.parse(text));
  if (answer.ok) return answerBody;
  const { code, message, details } = asObject(answerBody.error);
  const named = (Array.isArray(details) ? details.map(asObject) : []).map(
    ({ field, problem }) => `${field} ${problem}`,
  );
  throw new StartError([`${method} ${url.pathname}: ${answer.status} ${code} ${message}`, ...named].join("\n  "));
}

/** The value as an object; empty for other values. */
export function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** The objects in a response's `data`. */
export function listOf(answer: JsonObject): JsonObject[] {
  return Array.isArray(answer.data) ? answer.data.map(asObject) : [];
}
