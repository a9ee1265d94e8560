// Any input to any operation: never a 5xx, never an answer that the document does not describe, never a crash.
import assert from "node:assert/strict";
import fc from "fast-check";
import { Answer, apiClient } from "../harness/api.ts";
import { contractSuite } from "./caller.ts";
import { type ApiDocument, apiDocument, type DocumentOperation } from "./document.ts";

// 32 operations, 2 ms a request: about 5 s in all. FUZZ_RUNS=1000 searches deeper.
const runs = Number(process.env.FUZZ_RUNS ?? 40);
const { test, running, merchant } = contractSuite("fuzz", { timeoutMs: 10_000 + runs * 5_000 });
let document: ApiDocument;
/** Ids of real objects, so that not everything ends at not_found. */
const ids: Record<string, string> = {};
let secret: string;

test.before(async () => {
  document = await apiDocument(running.gateway);
  const session = (await merchant.api.post("/v1/checkout-sessions", { amount: 100, currency: "EUR" })).expect(201);
  ids["/v1/checkout"] = session.text("id");
  secret = session.text("session_secret");
  const endpoint = { url: "https://localhost:8443/hook", event_types: ["test.ping"] };
  ids["/v1/merchants/me/webhooks"] = (await merchant.api.post("/v1/merchants/me/webhooks", endpoint))
    .expect(201)
    .text("id");
  ids["/v1/merchants/me/connectors"] = (await merchant.api.get("/v1/merchants/me/connectors")).text("data.0.id");
});

const nasty = fc.constantFrom(
  ...[
    "",
    " ",
    "\0",
    "\ud800",
    "__proto__",
    "constructor",
    "null",
    "0",
    "-1",
    "1e999",
    "%00",
    "%",
    "../..",
    "\u202e",
    "\r\nX: y",
  ],
  ...[
    "'; drop table payments; --",
    "{{7*7}}",
    "<script>",
    "x".repeat(3_000),
    "9223372036854775808",
    "2025-02-30",
    "🛒".repeat(300),
  ],
);
const text = fc.oneof(nasty, fc.string({ unit: "binary", maxLength: 60 }), fc.emailAddress(), fc.webUrl(), fc.ulid());
const number = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(0, -0, 2 ** 53, 1e21, 100, 99_999_999),
);
const value = fc.oneof(text, number, fc.boolean(), fc.constant(null), fc.jsonValue({ maxDepth: 3 }));

/** A body: known names with any values, or any bytes. */
function bodyOf({ bodyFields }: DocumentOperation): fc.Arbitrary<string> {
  const name =
    bodyFields.length === 0 ? text : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...bodyFields) }, text);
  const likely = fc.record(
    {
      amount: fc.oneof(fc.integer({ min: -5, max: 500 }), value),
      currency: fc.oneof(fc.constantFrom("EUR", "jpy", "KWD", "XXX"), value),
      status: fc.constantFrom("active", "disabled", "x"),
    },
    { requiredKeys: [] },
  );
  const fields = fc.dictionary(name, value, { maxKeys: 6 });
  const object = fc.tuple(likely, fields).map(([some, more]) => JSON.stringify({ ...some, ...more }));
  return fc.oneof({ weight: 8, arbitrary: object }, fc.json(), fc.string({ unit: "binary", maxLength: 100 }));
}

function requestOf(operation: DocumentOperation) {
  const known = Object.entries(ids).find(([prefix]) => operation.path.startsWith(prefix))?.[1];
  const id = known === undefined ? text : fc.oneof({ weight: 3, arbitrary: fc.constant(known) }, text);
  const queryName = fc.oneof(
    fc.constantFrom(
      ...["limit", "offset", "after", "from", "to", "q", "status", "payment_id", "min_amount", "max_amount"],
      ...[
        "reference",
        "currency",
        "connector",
        "captured_from",
        "captured_to",
        "customer_email",
        "type",
        "after_position",
      ],
    ),
    text,
  );
  const secretValue = fc.oneof(fc.constant(secret), text);
  return fc.record({
    path: fc.array(id, { minLength: operation.pathParameters.length, maxLength: operation.pathParameters.length }),
    query: fc.array(fc.tuple(queryName, fc.oneof(text, number.map(String))), { maxLength: 4 }),
    secret: operation.scope === undefined ? fc.option(secretValue) : fc.constant(null),
    body: operation.hasBody ? bodyOf(operation) : fc.constant(undefined),
    key: fc.option(fc.string({ unit: "grapheme-ascii", maxLength: 20 })),
  });
}

type GeneratedRequest = ReturnType<typeof requestOf> extends fc.Arbitrary<infer G> ? G : never;

async function send(operation: DocumentOperation, sent: GeneratedRequest): Promise<Answer> {
  let i = 0;
  const path = operation.path.replace(
    /\{\w+\}/g,
    () => encodeURIComponent((sent.path[i++] ?? "x").toWellFormed()) || "x",
  );
  const pairs: [string, string][] = sent.query.map(([name, each]) => [name.toWellFormed(), each.toWellFormed()]);
  if (sent.secret !== null) pairs.push(["secret", sent.secret.toWellFormed()]);
  const key = sent.key?.trim();
  const answer = await fetch(new URL(`${path}?${new URLSearchParams(pairs)}`, running.gateway), {
    method: operation.method,
    headers: {
      authorization: `Bearer ${merchant.apiKey}`,
      ...(sent.body !== undefined && { "content-type": "application/json" }),
      ...(key && { "idempotency-key": key }),
    },
    ...(sent.body !== undefined && { body: sent.body }),
  });
  return new Answer(answer.status, answer.headers, await answer.text());
}

/** Paths that the URL standard shortens are other paths: their answer is only checked to be an envelope. */
const shortens = (sent: GeneratedRequest) => sent.path.some((segment) => /^\.{1,2}$/.test(segment));

test("every operation gives any input a documented answer, never a 5xx", async () => {
  for (const operation of document.operations) {
    // Revoking or deleting what the others use would make them all end early.
    const requests = requestOf(operation);
    await fc.assert(
      fc.asyncProperty(requests, async (sent) => {
        const answer = await send(operation, sent);
        assert.ok(answer.status < 500, `${operation.id}: ${answer}`);
        if (!shortens(sent)) document.check(operation.id, answer);
      }),
      { numRuns: operation.method === "DELETE" ? Math.ceil(runs / 4) : runs, endOnFailure: true },
    );
  }
  assert.equal((await apiClient(running.gateway).get("/livez")).status, 200);
});

test("any bytes in any header value or path are answered, never with a 5xx", async () => {
  const headerText = fc
    .string({ unit: "binary-ascii", maxLength: 50 })
    .map((raw) => raw.replace(/[^\x20-\x7e]/g, "").trim());
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("authorization", "traceparent", "content-type", "x-forwarded-for", "accept", "cookie"),
      headerText,
      text,
      async (name, raw, path) => {
        const url = new URL(`/v1/${encodeURI(path.toWellFormed())}`.slice(0, 4_000), running.gateway);
        const answer = await fetch(url, { headers: { [name]: raw }, redirect: "manual" });
        await answer.arrayBuffer();
        assert.ok(answer.status < 500);
      },
    ),
    { numRuns: runs * 3 },
  );
});

test.run();
