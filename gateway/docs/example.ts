// Examples for people, made of the first example of each field: a curl that can be pasted once BASE_URL, API_KEY and
// ids are set.
import { membersOf } from "#platform/values/members.ts";
import type { ListedOperation } from "../operation.ts";

// Payments with refunds are 2 levels deep; this only guards against a schema that holds itself.
const depthMax = 5;

/** The operation as a curl command. */
export function curlOf({ method, path, access, body, raw, idempotent, query }: ListedOperation): string {
  const filled = path.replace(/:(\w+)/g, "$$$1");
  const secret = access.kind === "buyer" && query ? "?secret=$SESSION_SECRET" : "";
  const lines = [`curl -sS${method === "GET" ? "" : ` -X ${method}`} "$BASE_URL${filled}${secret}"`];
  if (access.kind === "merchant") lines.push(`-H "Authorization: Bearer $API_KEY"`);
  if (idempotent) lines.push("-H 'Idempotency-Key: order-1042'");
  if (body) lines.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(exampleOf(body))}'`);
  if (raw) lines.push(`-H 'Content-Type: ${raw.types[0]}'`, "--data-binary @receipt.pdf");
  return lines.join(" \\\n  ");
}

/** The schema's own first example, or one made of its fields; undefined where there is none. */
export function exampleOf(schema: object, depth = 0): unknown {
  const fields = membersOf(schema);
  if (Array.isArray(fields.examples)) return fields.examples[0];
  if (fields.type !== "object" || depth > depthMax) return undefined;
  const properties = Object.entries(membersOf(fields.properties));
  return Object.fromEntries(properties.map(([name, property]) => [name, exampleOf(membersOf(property), depth + 1)]));
}
