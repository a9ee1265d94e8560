// How unusual JSON and queries are read: every row of the table that the reference page shows (docs/contract.md §1 and
// §2).
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import { reportedKeywords } from "../../gateway/http/schema-violations.ts";
import { inputRules } from "../../gateway/input-rules.ts";
import { contractSuite } from "./caller.ts";

const { test, merchant, api } = contractSuite("input", { timeoutMs: 30_000 });

for (const rule of inputRules) {
  test(`${rule.input}: ${rule.status}`, async () => {
    const answer =
      rule.query === undefined
        ? await merchant.api.post("/v1/checkout-sessions", rule.body ?? "")
        : await merchant.api.get(`/v1/payments?${rule.query}`);
    assert.equal(answer.status, rule.status, String(answer));
    api.document.check(rule.query === undefined ? "createCheckoutSession" : "listPayments", answer);
    if (rule.status === 400) assert.equal(answer.text("error.code"), "invalid_body");
  });
}

test("1e3 is 1000, and a metadata name like constructor comes back as it was sent", async () => {
  const body = '{"amount":1e3,"currency":"EUR","metadata":{"constructor":"x","toString":"y"}}';
  const created = (await merchant.api.post("/v1/checkout-sessions", body)).expect(201);
  assert.equal(created.at("amount"), 1000);
  const read = (await merchant.api.get(`/v1/checkout-sessions/${created.text("id")}`)).expect(200);
  assert.deepEqual(read.at("metadata"), { constructor: "x", toString: "y" });
});

test("docs/contract.md §2: details name the first 20 fields and repeat no value", async () => {
  const metadata = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${i}`, 7_654_321]));
  const answer = await merchant.api.post("/v1/checkout-sessions", { amount: "hunter2", currency: "EUR", metadata });
  assert.equal(answer.list("error.details").length, 20);
  assert.ok(!/hunter2|7654321/.test(answer.raw));
});

test("docs/contract.md §2: every wrong field is named at once, with the form that is wanted", async () => {
  const body = { accent_color: "red", secondary_color: "#12", font_family: "comic" };
  const answer = await api.refused("updateBranding", 400, "invalid_body", { body });
  const problems = answer
    .list("error.details")
    .map((each) => `${membersOf(each).field} ${membersOf(each).problem}`)
    .sort();
  assert.match(
    problems.join("; "),
    /^accent_color must look like #\w{6}; font_family must be one of inter, .*; secondary_color must look like #\w{6}$/,
  );
  const session = { amount: 100, currency: "EURO" };
  const refused = await api.refused("createCheckoutSession", 400, "invalid_body", { body: session });
  assert.equal(refused.text("error.details.0.problem"), "must look like EUR");
});

test("docs/contract.md §2: one answer lists the problems of the query and of the body", async () => {
  const path = "/v1/checkout-sessions?colour=green&tone=%00";
  const unknown = [
    ["colour", "is unknown"],
    ["tone", "is unknown"],
  ];
  const bodies: [body: unknown, wrong: readonly (readonly string[])[]][] = [
    [{ amount: 0, currency: "EUR" }, [["amount", "must be at least 1"]]],
    ["{", [["", "must be valid JSON"]]],
    [{ amount: 1, currency: "EUR" }, []],
  ];
  for (const [body, wrong] of bodies) {
    const answer = await merchant.api.post(path, body);
    assert.equal(answer.status, 400, String(answer));
    api.document.check("createCheckoutSession", answer);
    const details = answer.list("error.details").map((each) => [membersOf(each).field, membersOf(each).problem]);
    assert.deepEqual(details, [...unknown, ...wrong], JSON.stringify(body));
  }
});

test("docs/contract.md §1: bytes that are not UTF-8 are refused in every filter, by its name", async () => {
  for (const { id, query, examplePath } of api.document.operations.filter(({ scope }) => scope !== undefined)) {
    for (const name of Object.keys(query)) {
      const address = api.document
        .operation(id)
        .path.replace(/\{(\w+)\}/g, (_all, parameter) => examplePath[parameter] ?? "");
      const answer = await merchant.api.get(`${address}?${name}=%ff`);
      assert.equal(answer.status, 400, `${id} ${name}: ${answer}`);
      assert.deepEqual(answer.at("error.details"), [{ field: name, problem: "must be UTF-8" }], id);
    }
  }
});

test("the document and the answer reject an object without fields, in plain English", async () => {
  const path = { id: "dp_01jd3v9q6k8m2n4p6r8t0v2x4z", cid: "mco_01jd3v9q6k8m2n4p6r8t0v2x4z" };
  const expected: Record<string, string> = {
    updateConnector: "must have at least one of selected_surface, payment_methods, is_default",
    submitDisputeEvidence: "must have at least one of its fields",
    updateWebhookEndpoint: "must have at least one of status, url, event_types, description, payload",
  };
  for (const [operation, problem] of Object.entries(expected)) {
    assert.ok(!api.document.takes(operation, {}), operation);
    const of = operation === "updateWebhookEndpoint" ? { id: "whk_01jd3v9q6k8m2n4p6r8t0v2x4z" } : path;
    const answer = await api.refused(operation, 400, "invalid_body", { path: of, body: {} });
    assert.deepEqual(answer.at("error.details"), [{ field: "", problem }]);
  }
  const known = await api.refused("updateConnector", 400, "invalid_body", { path, body: { colour: "green" } });
  assert.deepEqual(known.at("error.details"), [{ field: "", problem: expected.updateConnector }]);
});

test("whatever a request's schema asks for has words of its own in a refusal", () => {
  const plain = new Set(["description", "examples", "default", "x-extensible-enum", "properties", "items", "$ref"]);
  const keywords = new Set(api.document.requestSchemas().flatMap(keywordsOf));
  assert.ok(keywords.has("minProperties") && keywords.has("pattern"));
  assert.deepEqual(
    [...keywords].filter((keyword) => !plain.has(keyword) && !reportedKeywords.includes(keyword)),
    [],
  );
});

/** Every keyword of a schema and of the schemas in it. */
function keywordsOf(schema: object): string[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (["examples", "default", "enum", "required", "x-extensible-enum"].includes(keyword)) return [keyword];
    const isMap = keyword === "properties";
    const inner = isMap ? Object.values(membersOf(value)) : [value].flat();
    return [keyword, ...inner.flatMap((one) => (typeof one === "object" && one !== null ? keywordsOf(one) : []))];
  });
}

test("text of every script survives the way to the database and back", async () => {
  const description = "Zoë 商品 🛒 \u200fمرحبا\n 'quote\" \\ <b>&amp; %00";
  const metadata = { note: "\u202eمرحبا\u0007" };
  const created = (
    await merchant.api.post("/v1/checkout-sessions", { amount: 1, currency: "EUR", description, metadata })
  ).expect(201);
  const read = (await merchant.api.get(`/v1/checkout-sessions/${created.text("id")}`)).expect(200);
  assert.equal(read.at("description"), description);
  assert.deepEqual(read.at("metadata"), metadata);
});

test("escape characters and overrides of the writing direction are refused in every text that other people see", async () => {
  const order = { amount: 1, currency: "EUR" };
  const endpoint = { url: "https://shop.example.com/hook", event_types: ["test.ping"] };
  const texts: [operation: string, field: string, body: object][] = [
    ["createApplication", "legal_name", {}],
    ["createApplication", "trading_name", {}],
    ["updateProfile", "name", {}],
    ["updateProfile", "legal_name", {}],
    ["updateBranding", "display_name", {}],
    ["updateBranding", "tagline", {}],
    ["createApiKey", "name", {}],
    ["createWebhookEndpoint", "description", endpoint],
    ["createCheckoutSession", "description", order],
    ["createPayment", "description", { ...order, payment_method: "pm_x" }],
    ["createRefund", "reason", {}],
  ];
  const path = { id: "pay_01jd3v9q6k8m2n4p6r8t0v2x4z" };
  for (const [operation, field, body] of texts) {
    for (const bad of ["Lemon\u001b[31m", "Lemon \u202eskooB", "Lemon \u2067Books", "Lemon\u009bBooks"]) {
      const sent = { ...(operation === "createRefund" && { path }), body: { ...body, [field]: bad } };
      const answer = await api.refused(operation, 400, "invalid_body", sent);
      const problem = "must not contain control characters or direction embeddings or overrides";
      assert.deepEqual(answer.at("error.details"), [{ field, problem }], operation);
    }
  }
});

test("what is no https address, or shows another one than is stored, is refused in the gateway's words", async () => {
  const order = { amount: 1, currency: "EUR" };
  const addresses: [operation: string, field: string, body: object][] = [
    ["updateProfile", "website", {}],
    ["updateBranding", "logo_url", {}],
    ["updateBranding", "terms_url", {}],
    ["updateBranding", "privacy_url", {}],
    ["createCheckoutSession", "success_url", order],
    ["createCheckoutSession", "cancel_url", order],
    ["createWebhookEndpoint", "url", { event_types: ["test.ping"] }],
  ];
  const problem = "must be an https URL, without a user name, password or control characters";
  const strange = ["\u001b[31m", "\u202egpj", "\u0007", "\n", "\u2028"].map(
    (text) => `https://shop.example.com/${text}`,
  );
  for (const [operation, field, body] of addresses) {
    for (const bad of [...strange, " https://shop.example.com", "https:shop.example.com", "shop"]) {
      const answer = await api.refused(operation, 400, "invalid_body", { body: { ...body, [field]: bad } });
      assert.deepEqual(answer.at("error.details"), [{ field, problem }], `${operation} ${JSON.stringify(bad)}`);
    }
  }
});

test("the scheme of an address may be written in capitals, and an empty one clears", async () => {
  const website = async (text: string) =>
    (await merchant.api.patch("/v1/merchants/me/profile", { website: text })).expect(200);
  assert.equal((await website("HTTPS://shop.example.com/")).text("website"), "https://shop.example.com/");
  assert.equal((await website("")).at("website"), undefined);
});

test("an invalid time gets its field's format", async () => {
  const key = await api.refused("createApiKey", 400, "invalid_body", { body: { expires_at: "2031-01-01" } });
  assert.deepEqual(key.at("error.details"), [{ field: "expires_at", problem: "must be an RFC 3339 time" }]);
  const problem = "must be an RFC 3339 time or a date as YYYY-MM-DD";
  const wrong = ["from", "to", "captured_from", "captured_to"];
  const list = await merchant.api.get(
    `/v1/payments?${new URLSearchParams(wrong.map((name): [string, string] => [name, "soon"]))}`,
  );
  assert.deepEqual(
    list.expect(400).at("error.details"),
    wrong.map((field) => ({ field, problem })),
  );
});

test.run();
