// Input that the document's schemas allow is never called invalid, except by rules that a schema cannot express; other
// input is always rejected, with the field's name and in plain English.
import assert from "node:assert/strict";
import fc from "fast-check";
import { membersOf } from "#platform/values/unchecked.ts";
import type { Answer } from "../harness/api.ts";
import { contractSuite } from "./caller.ts";
import { type ApiDocument, apiDocument, type DocumentOperation, valueAt } from "./document.ts";
import { changeOneField, drawnFrom } from "./from-schema.ts";

// FUZZ_RUNS=400 searches deeper: some three minutes.
const runs = Number(process.env.FUZZ_RUNS ?? 25);
const { test, running, merchant } = contractSuite("fuzz by schemas", { timeoutMs: 20_000 + runs * 5_000 });
let document: ApiDocument;
const ids: Record<string, string> = {};

test.before(async () => {
  document = await apiDocument(running.gateway);
  const endpoint = { url: "https://localhost:8443/hook", event_types: ["test.ping"] };
  const made = await merchant.api.post("/v1/merchants/me/webhooks", endpoint);
  ids["/v1/merchants/me/webhooks"] = made.expect(201).text("id");
  ids["/v1/merchants/me/connectors"] = (await merchant.api.get("/v1/merchants/me/connectors")).text("data.0.id");
});

const resolve = (schema: Readonly<Record<string, unknown>>) =>
  typeof schema.$ref === "string" ? membersOf(valueAt(document.root, ...schema.$ref.split("/").slice(1))) : schema;

/** Rules beyond schemas: valid URLs, currencies, codes and times, and relations between fields and stored data. */
const judgedBeyond: ReadonlySet<string> = new Set([
  ...["url", "success_url", "cancel_url", "website", "logo_url", "terms_url", "privacy_url", "phone", "email"],
  ...["currency", "currency_code", "country", "country_code", "locale", "line_items", "amount", "capture_method"],
  ...["event_types", "scopes", "expires_at", "allowed_ips", "environment", "support_email", "customer_email"],
  ...[
    "applicant_email",
    "payment_method",
    "payment_methods",
    "since",
    "until",
    "from",
    "to",
    "captured_from",
    "captured_to",
    "due_before",
    "min_amount",
    "at",
  ],
  ...["after_position", "min_status", "q", "type", "status", "connector", "window_seconds"],
  // A routing is checked against the merchant's own connectors and its stored version.
  ...["rules", "version"],
  // A report's zone and columns are known to the database of zones and to its type.
  ...["timezone", "columns"],
]);

interface Problem {
  readonly field: string;
  readonly problem: string;
}

function problemsOf(answer: Answer): Problem[] {
  return answer.list("error.details").map((each) => {
    const { field, problem } = membersOf(each);
    return { field: String(field), problem: String(problem) };
  });
}

async function send(operation: DocumentOperation, body: unknown, query: readonly [string, string][] = []) {
  const known = Object.entries(ids).find(([prefix]) => operation.path.startsWith(prefix))?.[1];
  const path = operation.path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    name === operation.pathParameters[0] && known !== undefined ? known : (operation.examplePath[name] ?? "x"),
  );
  const address = query.length === 0 ? path : `${path}?${new URLSearchParams([...query])}`;
  const { api } = merchant;
  const send = {
    GET: () => api.get(address),
    PATCH: () => api.patch(address, body),
    PUT: () => api.put(address, body),
  };
  const answer = await (Object.hasOwn(send, operation.method)
    ? send[operation.method as keyof typeof send]()
    : api.post(address, body));
  assert.ok(answer.status < 500, `${operation.id}: ${answer}`);
  document.check(operation.id, answer);
  return answer;
}

/** A 400 may only name rules beyond the schemas. */
function assertAccepted(operation: DocumentOperation, sent: unknown, answer: Answer): void {
  if (answer.status !== 400) return;
  const unjust = problemsOf(answer).filter(({ field }) => !judgedBeyond.has(field.split(/[.[]/)[0] ?? ""));
  assert.deepEqual(unjust, [], `${operation.id} takes ${JSON.stringify(sent)} by its schema`);
}

const withBody = () => document.operations.filter(({ hasBody, scope }) => hasBody && scope !== undefined);

test("a body that the document allows is not called invalid", async () => {
  for (const operation of withBody()) {
    await fc.assert(
      fc.asyncProperty(drawnFrom(operation.bodySchema, resolve), async (body) => {
        fc.pre(document.takes(operation.id, body));
        assertAccepted(operation, body, await send(operation, body));
      }),
      { numRuns: runs, endOnFailure: true },
    );
  }
});

test("a body that the document does not allow is refused by its field's name, in plain English", async () => {
  for (const operation of withBody()) {
    const schema = resolve(operation.bodySchema);
    if (Object.keys(membersOf(schema.properties)).length === 0) continue;
    const right = drawnFrom(schema, resolve).filter((body) => document.takes(operation.id, body));
    const wrong = right.chain((body) => changeOneField(membersOf(body), schema));
    await fc.assert(
      fc.asyncProperty(wrong, async ({ field, body }) => {
        const size = Buffer.byteLength(JSON.stringify(body));
        fc.pre(!document.takes(operation.id, body) && size < 60_000);
        const answer = await send(operation, body);
        assert.equal(answer.status, 400, `${operation.id} refuses ${JSON.stringify(body).slice(0, 500)}: ${answer}`);
        const problems = problemsOf(answer);
        const isNamed = problems.some((one) => one.field === "" || one.field.split(/[.[]/)[0] === field);
        assert.ok(isNamed, `${operation.id} ${field}: ${answer}`);
        for (const { problem } of problems) assert.match(problem, /^(?!.*NOT )(must|is|names|has) /, operation.id);
      }),
      { numRuns: runs, endOnFailure: true },
    );
  }
});

test("an allowed filter is not called invalid, and an unknown or wrong one is named", async () => {
  const lists = document.operations.filter(({ method, query, scope }) => {
    return method === "GET" && scope !== undefined && Object.keys(query).length > 0;
  });
  for (const operation of lists) {
    const filters = fc.record(
      Object.fromEntries(Object.entries(operation.query).map(([name, schema]) => [name, drawnFrom(schema, resolve)])),
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(filters, fc.boolean(), async (drawn, isWrong) => {
        const { after, offset, ...others } = membersOf(drawn);
        const pairs = Object.entries(others).map(([name, value]): [string, string] => [name, String(value)]);
        const answer = await send(operation, undefined, isWrong ? [...pairs, ["colour", "green"]] : pairs);
        if (!isWrong) return assertAccepted(operation, drawn, answer);
        assert.ok(
          problemsOf(answer).some(({ field }) => field === "colour"),
          String(answer),
        );
      }),
      { numRuns: runs, endOnFailure: true },
    );
  }
});

test.run();
