// The OpenAPI document: strict, complete, the same in both forms, and true to docs/contract.md.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { parse } from "yaml";
import { membersOf } from "#platform/values/unchecked.ts";
import { errorTable } from "../../gateway/failures.ts";
import { displayFormats, displayLine, displayPattern, notBlank } from "../../gateway/http/display-text.ts";
import { type Answer, apiClient } from "../harness/api.ts";
import { breakingChanges } from "./breaking-changes.ts";
import { contractSuite } from "./caller.ts";
import { type ApiDocument, apiDocument, valueAt } from "./document.ts";

const { test, running } = contractSuite("OpenAPI document", { timeoutMs: 30_000 });
let document: ApiDocument;
let yaml: Answer;

test.before(async () => {
  document = await apiDocument(running.gateway);
  yaml = (await apiClient(running.gateway).get("/openapi.yaml")).expect(200);
});

/** Every operation of docs/contract.md §4, §5, §7, §8 and §9. */
const operations = [
  "POST /v1/checkout-sessions",
  "GET /v1/checkout/{id}",
  "POST /v1/checkout/{id}/confirm",
  "POST /v1/checkout/{id}/email",
  "POST /v1/payments/{id}/refunds",
  "GET /v1/payments",
  "POST /v1/payments",
  "GET /v1/payments/{id}",
  "POST /v1/merchants/me/webhooks",
  "GET /v1/merchants/me/webhooks",
  "PATCH /v1/merchants/me/webhooks/{id}",
  "GET /v1/merchants/me/webhooks/{id}/deliveries",
  "POST /v1/merchants/me/webhooks/{id}/deliveries/{delivery_id}/retry",
  "POST /v1/merchants/me/webhooks/{id}/test",
  "GET /v1/merchants/me/event-types",
  "GET /v1/events",
  "GET /v1/events/{id}",
  "GET /v1/merchants/me/connectors",
  "GET /v1/merchants/me/connectors/{cid}",
  "PATCH /v1/merchants/me/connectors/{cid}",
  "GET /v1/merchants/me/routing",
  "PUT /v1/merchants/me/routing",
  "GET /v1/merchants/me",
  "PATCH /v1/merchants/me/profile",
  "GET /v1/merchants/me/branding",
  "PATCH /v1/merchants/me/branding",
  "GET /v1/merchants/me/api-keys",
  "GET /v1/merchants/me/requests",
  "GET /v1/merchants/me/requests/{id}",
  "GET /v1/merchants/me/audit-log",
  "POST /v1/merchants/me/api-keys",
  "POST /v1/onboarding/applications/{id}/submit",
  "GET /v1/checkout-sessions",
  "GET /v1/checkout-sessions/{id}",
  "POST /v1/checkout-sessions/{id}/expire",
  "GET /v1/disputes",
  "GET /v1/disputes/{id}",
  "POST /v1/disputes/{id}/evidence",
  "POST /v1/disputes/{id}/accept",
  "POST /v1/disputes/{id}/files",
  "POST /v1/reports",
  "GET /v1/reports",
  "GET /v1/reports/{id}",
  "GET /v1/reports/{id}/file",
  "POST /v1/privacy/erasures",
  "GET /v1/privacy/erasures/{id}",
  "POST /v1/privacy/exports",
  "GET /v1/payments/{id}/deliveries",
  "GET /v1/merchants/me/webhooks/{id}/health",
  "GET /v1/payments/{id}/refunds",
  "POST /v1/payments/{id}/capture",
  "POST /v1/payments/{id}/cancel",
  "GET /v1/refunds",
  "POST /v1/merchants/me/api-keys/{id}/roll",
  "PATCH /v1/merchants/me/api-keys/{id}",
  "DELETE /v1/merchants/me/api-keys/{id}",
  "GET /v1/onboarding/applications/{id}",
  "PATCH /v1/onboarding/applications/{id}",
  "POST /v1/onboarding/applications",
  "DELETE /v1/merchants/me/webhooks/{id}",
  "POST /v1/merchants/me/webhooks/{id}/roll-secret",
  "GET /v1/refunds/{id}",
  "GET /v1/balance",
  "GET /v1/balance-transactions",
  "GET /v1/balance-transactions/{id}",
  "GET /v1/payouts",
  "GET /v1/payouts/{id}",
  "GET /v1/merchants/me/webhooks/{id}",
  "GET /v1/merchants/me/webhooks/{id}/deliveries/{delivery_id}",
  "POST /v1/merchants/me/webhooks/{id}/replay",
  "POST /v1/merchants/me/webhooks/{id}/retry-failed",
  "GET /v1/merchants/me/webhooks/{id}/retry-runs/{run_id}",
];

/** The contract's resources, field by field: text, whole number, truth, list or object. */
const fields: Record<string, string> = {
  CreatedCheckoutSession:
    "id:s session_secret:s render:o connector:s surface:s amount:i currency:s status:s capture_method:s expires_at:s checkout_url:s",
  Payment:
    "id:s amount:i fee_amount:i refunded_amount:i net_amount:i processor_fee:i margin:i currency:s status:s connector_ref:s connector:s description:s reference:s customer_email:s authorization_code:s receipt_url:s authorized_at:s capture_method:s capture_before:s captured_at:s captured_amount:i failed_at:s created_at:s card:o payment_method:o verification:o refunds:a dispute:o failure:o attempts:a routing:o metadata:o archived:b",
  PaymentFailure: "code:s message:s advice:s",
  PaymentAttempt:
    "id:s outcome:s failure_code:s failure_message:s card:o payment_method:o three_ds_result:s connector:s created_at:s",
  PaymentItem:
    "id:s amount:i captured_amount:i currency:s status:s fee_amount:i refunded_amount:i customer_email:s connector:s card:o payment_method:o created_at:s",
  PaymentMethod: "type:s card:o bank:o wallet:s",
  Card: "brand:s last4:s funding:s fingerprint:s exp_month:i exp_year:i",
  CardSummary: "brand:s last4:s funding:s",
  Verification: "avs_line1:s avs_zip:s cvc_check:s three_ds_result:s three_ds_version:s risk_level:s risk_score:i",
  Refund: "id:s amount:i status:s connector_ref:s reason:s failure_code:s failure_message:s created_at:s",
  Dispute: "id:s connector_dispute_id:s reason:s status:s amount:i opened_at:s evidence_due_at:s outcome:s",
  Balance: "at:s balances:a",
  BalanceTransaction:
    "id:s type:s connector:s amount:i fee:i net:i currency:s source_amount:i source_currency:s exchange_rate:s payment_id:s refund_id:s dispute_id:s payout_id:s occurred_at:s posted_at:s available_at:s",
  Payout:
    "id:s connector:s connector_ref:s amount:i currency:s status:s arrival_date:s statement_descriptor:s failure_message:s unattributed_amount:i created_at:s",
  Report:
    "id:s type:s status:s progress:i rows:i from:s to:s timezone:s columns:a size:i failure:s expires_at:s created_at:s",
  Connector:
    "id:s connector:s environment:s is_default:b is_active:b can_be_primary:b allowed_surfaces:a default_surface:s selected_surface:s surface:s external_account_id:s payment_methods:a",
  ConnectorRecord:
    "id:s connector:s environment:s is_default:b is_active:b can_be_primary:b allowed_surfaces:a default_surface:s selected_surface:s surface:s external_account_id:s payment_methods:a methods:a",
  PaymentMethodTerms: "type:s currencies:a refund:s delayed:b disputes:b manual_capture:b",
  Event: "id:s type:s payment_id:s payload:o created_at:s position:i",
  WebhookEndpoint: "id:s url:s description:s event_types:a environment:s status:s payload:s",
  WebhookEndpointWithSecret:
    "id:s url:s description:s event_types:a environment:s status:s payload:s signing_secret:s standard_secret:s",
  WebhookDelivery:
    "id:s event_type:s attempts:i delivered:b failed:b status_code:i last_error:s next_attempt_at:s payload:o created_at:s",
  WebhookDeliveryWithAttempts:
    "id:s event_type:s attempts:i delivered:b failed:b status_code:i last_error:s next_attempt_at:s payload:o created_at:s attempt_log:a",
  DeliveryAttempt:
    "started_at:s trigger:s status_code:i error_code:s duration_ms:i dns_ms:i connect_ms:i tls_ms:i first_byte_ms:i response_snippet:s",
  WebhookRetryRun: "id:s endpoint_id:s status:s total:i queued:i created_at:s",
  ApiKey: "id:s name:s suffix:s environment:s scopes:a allowed_ips:a status:s created_at:s expires_at:s last_used_at:s",
  NewApiKey:
    "api_key:s note:s id:s name:s suffix:s environment:s scopes:a allowed_ips:a status:s created_at:s expires_at:s last_used_at:s",
  Merchant: "id:s name:s status:s country_code:s currency_code:s email:s",
  MerchantProfile: "id:s name:s legal_name:s status:s country:s currency:s email:s phone:s website:s",
  Branding:
    "display_name:s tagline:s logo_url:s accent_color:s secondary_color:s support_email:s button_style:s background_style:s theme:s font_family:s terms_url:s privacy_url:s email_field:s email_receipts:s",
  LineItem: "name:s quantity:i amount:i",
  Application:
    "id:s status:s applicant_email:s legal_name:s trading_name:s country_code:s currency_code:s merchant_id:s created_at:s missing:a",
  EventType: "code:s label:s category:s",
  Confirmation: "id:s status:s payment_id:s payment_status:s failure:o render_replaced:b",
  RefundResult: "id:s payment_id:s refunded:i status:s connector_ref:s refund_status:s",
};
const typeNames: Record<string, string> = { s: "string", i: "integer", b: "boolean", a: "array", o: "object" };

async function problemsOf(text: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source: text, config, absoluteRef: "openapi.yaml" });
  return problems.map((problem) => `${problem.severity} ${problem.ruleId}: ${problem.message}`);
}

test("a strict linter finds no problem, and would find one", async () => {
  assert.deepEqual(await problemsOf(yaml.raw), []);
  const broken = await problemsOf(yaml.raw.replace("operationId: getPayment", "operationId: listPayments"));
  assert.ok(broken.length > 0);
});

test("the YAML and the JSON are equal", () => {
  assert.deepEqual(parse(yaml.raw), document.root);
  assert.equal(document.root.openapi, "3.1.0");
});

// Proves operations: operations
test("every operation of the contract is there, and none that the contract does not have", () => {
  const described = document.operations.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(described.sort(), operations.toSorted());
});

test("every resource of the contract has exactly the fields of its table, with their types", () => {
  for (const [name, listed] of Object.entries(fields)) {
    const properties = membersOf(valueAt(document.root, "components", "schemas", name, "properties"));
    const described = Object.entries(properties).map(([field, schema]) => {
      const { $ref: reference } = membersOf(schema);
      const component = typeof reference === "string" ? (reference.split("/").at(-1) ?? "") : undefined;
      const type =
        component === undefined
          ? valueAt(schema, "type")
          : valueAt(document.root, "components", "schemas", component, "type");
      return `${field}:${type}`;
    });
    const wanted = listed.split(" ").map((pair) => {
      const [field = "", letter = ""] = pair.split(":");
      return `${field}:${typeNames[letter]}`;
    });
    assert.deepEqual(described.sort(), wanted.sort(), name);
  }
});

test("docs/contract.md §1: 201 for what creates a stored object, 204 for DELETE, 200 for everything else", () => {
  const creations = [
    ...[
      "createCheckoutSession",
      "createPayment",
      "createRefund",
      "uploadDisputeFile",
      "createReport",
      "createErasure",
      "createWebhookEndpoint",
      "createApiKey",
      "rollApiKey",
      "createApplication",
    ],
  ];
  for (const { id, method, success } of document.operations) {
    assert.equal(success, method === "DELETE" ? 204 : creations.includes(id) ? 201 : 200, id);
  }
});

test("every operation has a summary and a description, a tag that is described, and every code of the table is given somewhere", () => {
  const tags = new Set([document.root.tags].flat().map((tag) => valueAt(tag, "name")));
  for (const { path, method } of document.operations) {
    const described = valueAt(document.root, "paths", path, method.toLowerCase());
    assert.ok(valueAt(described, "summary") && valueAt(described, "description"), path);
    for (const tag of [valueAt(described, "tags")].flat()) assert.ok(tags.has(tag));
  }
  const codes = new Set(document.operations.flatMap((operation) => operation.codes));
  codes.add("method_not_allowed"); // of no operation: a path's answer to other methods
  assert.deepEqual([...codes].sort(), Object.keys(errorTable).sort());
});

test("every example is valid by its own schema", () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  let count = 0;
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { examples } = membersOf(value);
    if (Array.isArray(examples) && !JSON.stringify(value).includes("$ref")) {
      for (const example of examples) assert.ok(ajv.validate(value, example), `${JSON.stringify(value)}`);
      count += 1;
    }
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(valueAt(document.root, "components", "schemas"));
  visit(document.root.paths);
  assert.ok(count > 150);
});

test("a body is optional where an empty object is taken, and nowhere else", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ ...document.root, $id: "document" });
  let needed = 0;
  for (const { id, path, method } of document.operations.filter(({ hasBody }) => hasBody)) {
    const body = valueAt(document.root, "paths", path, method.toLowerCase(), "requestBody");
    const { $ref, ...inline } = membersOf(valueAt(body, "content", "application/json", "schema"));
    const schema = typeof $ref === "string" ? { $ref: `document${$ref}` } : inline;
    assert.equal(valueAt(body, "required"), !ajv.validate(schema, {}), id);
    if (valueAt(body, "required") === true) needed++;
  }
  assert.ok(needed >= 9);
});

test("docs/contract.md §1: bodies that pass unknown fields over are those of the contract", () => {
  const schemas = document.operations.filter(({ hasBody }) => hasBody);
  const resolve = ({ $ref, ...inline }: Readonly<Record<string, unknown>>) =>
    typeof $ref === "string" ? membersOf(valueAt(document.root, ...$ref.split("/").slice(1))) : inline;
  const open = schemas.filter(({ bodySchema }) => resolve(bodySchema).additionalProperties !== false);
  const apiKeys = ["createApiKey", "limitApiKey", "rollApiKey"];
  const others = ["createApplication", "updateBranding", "updateConnector", "updateProfile"];
  assert.deepEqual(open.map(({ id }) => id).sort(), [...apiKeys, ...others].sort());
});

test("headers that answers promise are in the document", () => {
  const namesOf = (id: string, status: string) => {
    const { path, method } = document.operation(id);
    const answer = membersOf(valueAt(document.root, "paths", path, method.toLowerCase(), "responses", status));
    const response =
      typeof answer.$ref === "string" ? valueAt(document.root, ...answer.$ref.split("/").slice(1)) : answer;
    return Object.keys(membersOf(valueAt(response, "headers")));
  };
  assert.ok(namesOf("createRefund", "401").includes("WWW-Authenticate"));
  const limits = ["Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];
  assert.deepEqual(namesOf("createRefund", "429").sort(), ["Link", "Request-Id", ...limits].sort());
  assert.ok(namesOf("updateProfile", "200").includes("Ignored-Fields"));
  assert.ok(!namesOf("createRefund", "201").includes("Ignored-Fields"));
});

test("a text with a limited set of characters has a pattern for clients without our formats", () => {
  const strange = ["\u0000", "\u001b", "\u202e"];
  let count = 0;
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { format, pattern, type } = membersOf(value);
    if (typeof type === "string" && String(format) in displayFormats) {
      const regex = new RegExp(String(pattern), "u");
      assert.ok(regex.test("Order 1 — 商品") && !strange.some((text) => regex.test(`Order ${text}`)));
      count++;
    }
    for (const member of Object.values(value)) visit(member);
  };
  visit(document.root);
  assert.ok(count >= 25);
  assert.ok(document.takes("updateProfile", { name: "商品" }) && !document.takes("updateProfile", { name: " " }));
});

test("a program that draws by patterns alone sends addresses and times in the form that is taken", () => {
  const drawn = (operation: string, field: string, text: string, body: object = {}) =>
    document.takes(operation, { ...body, [field]: text });
  const order = { amount: 1, currency: "EUR" };
  assert.ok(drawn("createCheckoutSession", "success_url", "http://localhost:3000/", order));
  assert.ok(!drawn("createCheckoutSession", "success_url", "shop", order));
  for (const field of ["logo_url", "terms_url", "privacy_url"])
    assert.ok(!drawn("updateBranding", field, "http://a.example"));
  assert.ok(!drawn("updateProfile", "website", "shop"));
  assert.ok(
    !drawn("createApiKey", "expires_at", "2031-01-01") && drawn("createApiKey", "expires_at", "2031-01-01T00:00:00Z"),
  );
  const bounds = document.operations.flatMap(({ id, query }) =>
    Object.entries(query)
      .filter(([name]) => /(^|_)(from|to|before)$/.test(name))
      .map(([name, schema]) => ({ id, name, schema })),
  );
  assert.ok(bounds.length >= 15);
  for (const { id, name, schema } of bounds) {
    const regex = new RegExp(String(schema.pattern), "u");
    assert.ok(regex.test("2025-11-01") && regex.test("2025-11-01T08:30:00Z") && !regex.test("soon"), `${id} ${name}`);
  }
});

test("whatever has a pattern has an example, which is what a refusal shows", () => {
  const without: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { pattern, examples, format } = membersOf(value);
    const isShown = typeof pattern === "string" && !(String(format) in displayFormats);
    if (isShown && (!Array.isArray(examples) || examples.length === 0)) without.push(path);
    for (const [name, member] of Object.entries(value)) visit(member, `${path}/${name}`);
  };
  visit(document.root, "");
  assert.deepEqual(without, []);
});

/**
 * Accepted breaks, with their reason in docs/contract.md §4: an ended session hides its order. Also two errors of the
 * earlier document: an empty change of a connector and a blank name were always rejected.
 */
const decided = new Set([
  ...["amount", "currency", "expires_at", "connector", "surface", "environment"].map(
    (field) => `GET /v1/checkout/{id}: 200.${field}: not always there any more`,
  ),
  "PATCH /v1/merchants/me/connectors/{cid}: body: minProperties undefined became 1",
  `PATCH /v1/merchants/me/profile: body.name: pattern undefined became ${displayPattern(displayLine, notBlank)}`,
]);

test("docs/contract.md §12: what a released document offers, this one offers too", () => {
  const folder = join(import.meta.dirname, "../../docs/releases");
  const released = readdirSync(folder).filter((name) => /^openapi-\d+\.\d+\.\d+\.json$/.test(name));
  assert.ok(released.includes("openapi-0.1.0.json"));
  for (const name of released) {
    const earlier: unknown = JSON.parse(readFileSync(join(folder, name), "utf8"));
    const broken = breakingChanges(earlier, document.root).filter((line) => !decided.has(line));
    assert.deepEqual(broken, [], name);
  }
});

test.run();
