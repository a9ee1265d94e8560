// The hosted page as a server sends it: the data that an id alone reveals, its scripts, and its report endpoint.
import assert from "node:assert/strict";
import { pageScripts } from "../../gateway/web/page-headers.ts";
import { type Answer, apiClient } from "../harness/api.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { contractSuite } from "./caller.ts";
import { type OwnGateway, ownGateway } from "./own-gateway.ts";

const { test, running } = contractSuite("hosted page");
let own: OwnGateway;

test.before(async () => {
  own = await ownGateway(running, { RATE_LIMIT: "on", RATE_LIMIT_REPORTS_PER_MINUTE: "5" });
});
test.after(() => own.stop());

test("an id alone reveals its merchant's public profile, and nothing about the order or its state", async () => {
  const merchant = await freshMerchant(running);
  const branding = { display_name: "Lemon Books", accent_color: "#0a7d4f", support_email: "help@lemonbooks.example" };
  (await merchant.api.patch("/v1/merchants/me/branding", branding)).expect(200);
  const body = { amount: 4711, currency: "EUR", description: "Order 1001", reference: "LB-7" };
  const create = async () => (await merchant.api.post("/v1/checkout-sessions", body)).expect(201).text("id");
  const [open, ended] = [await create(), await create()];
  (await merchant.api.post(`/v1/checkout-sessions/${ended}/expire`)).expect(200);
  const pages: Answer[] = [];
  for (const id of [open, ended, "cs_01jd3v9q6k8m2n4p6r8t0v2x4z", "cs_x"]) {
    pages.push((await apiClient(running.gateway).get(`/c/${id}`)).expect(200));
  }
  assert.ok(pages[0]?.raw.includes(open.replace("cs_", "pay_").slice(0, 18)), "what to quote comes of the address");
  const [first, second, unknown, malformed] = pages.map(({ raw, headers }) => ({
    raw: raw.replaceAll(/pay_\w{14}/g, "pay_…").replace(/"now":\d+/, '"now":0'),
    headers: [...headers].filter(([name]) => !["date", "request-id", "content-length"].includes(name)),
  }));
  assert.deepEqual(first, second, "but for that, open and ended are the same to the byte");
  assert.deepEqual(unknown, malformed, "so are one that never was and one that cannot be");
  assert.deepEqual(first?.headers, unknown?.headers, "the policy is the same for all");
  assert.match(first?.raw ?? "", /Lemon Books.*help@lemonbooks\.example/s);
  const leaks = ["4711", "47.11", "Order 1001", "LB-7", "mer_", "cs_"].filter((text) => first?.raw.includes(text));
  assert.deepEqual(leaks, []);
  assert.equal(unknown?.raw.includes("Lemon"), false);
  assert.equal(unknown?.raw.includes("pay_"), false, "an unknown id is not quoted");
  assert.ok(pages[0]?.headers.get("content-security-policy")?.includes(running.processor));
});

test("the page loads one script, pinned by its hash, and its policy lets those of the list run and no others", async () => {
  const page = await apiClient(running.gateway).get("/c/cs_01jd3v9q6k8m2n4p6r8t0v2x4z");
  const scripts = [...page.raw.matchAll(/<script\b([^>]*)>/g)].map(([, attributes = ""]) => attributes);
  const loaded = scripts.filter((attributes) => !attributes.includes('type="application/json"'));
  assert.equal(loaded.length, 1);
  assert.match(loaded[0] ?? "", /src="\/c\/files\/page-[0-9a-f]{10}\.js" integrity="sha384-[\w+/=]{64}"/);
  const policy = page.headers.get("content-security-policy") ?? "";
  const allowed = /script-src ([^;]*)/.exec(policy)?.[1]?.split(" ");
  assert.deepEqual(
    allowed,
    pageScripts.map(({ source }) => source),
  );
  assert.match(policy, /report-to page; report-uri \/c\/reports$/);
  const reportOnly = page.headers.get("content-security-policy-report-only") ?? "";
  assert.match(reportOnly, /^require-trusted-types-for 'script'; trusted-types tollbooth; report-to page/);
  assert.equal(page.headers.get("reporting-endpoints"), 'page="/c/reports"');
});

test("browsers' reports are accepted in both forms, with a size limit and a rate limit by address", async () => {
  const send = (body: unknown, type: string) =>
    apiClient(own.gateway).post("/c/reports", body, { "content-type": type });
  const newer = [{ type: "csp-violation", body: { effectiveDirective: "script-src-elem", blockedURL: "inline" } }];
  (await send(newer, "application/reports+json")).expect(204);
  (await send({ "csp-report": { "violated-directive": "img-src" } }, "application/csp-report")).expect(204);
  (await send("{", "application/csp-report")).expect(400);
  (await send("x".repeat(16 * 1024 + 1), "application/reports+json")).expect(413);
  (await send("x", "text/plain")).expect(415);
  const over = (await send(newer, "application/reports+json")).expect(429);
  assert.equal(over.text("error.code"), "rate_limited");
});

test.run();
