// docs/contract.md §1: one log line for every request, with what an operator needs and no secret; the caller's trace is
// continued.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type Answer, apiClient } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { logFile } from "../harness/files/stack-logs.ts";
import { contractSuite } from "./caller.ts";

const { test, running, merchant } = contractSuite("request log");

async function lineOf(answer: Answer): Promise<Record<string, unknown>> {
  const id = answer.headers.get("request-id") ?? "";
  return await eventually("the log line", async () => {
    const lines = (await readFile(logFile(running, "gateway"), "utf8")).split("\n");
    const line = lines.find((each) => each.includes(id) && each.includes('"msg":"request"'));
    return line && { ...JSON.parse(line) };
  });
}

test("a line has method, route pattern, status, code, time, request, trace and key, and nothing of the query", async () => {
  const answer = await merchant.api.get("/v1/payments?q=ada%40example.com&limit=0");
  const { time, ms, trace_id: trace, key_id: key, ...line } = await lineOf(answer);
  assert.ok(time && trace && Number(ms) > 0);
  assert.match(String(key), /^ak_/);
  assert.deepEqual(line, {
    level: "info",
    service: "gateway",
    method: "GET",
    route: "/v1/payments",
    status: 400,
    code: "invalid_body",
    request_id: answer.headers.get("request-id"),
    msg: "request",
  });
});

test("session secrets, API keys and bodies are in no log of any service", async () => {
  const order = { amount: 100, currency: "EUR", description: "hush hush", customer_email: "whisper@example.com" };
  const session = await merchant.api.post("/v1/checkout-sessions", order);
  const secret = session.text("session_secret");
  const path = `/v1/checkout/${session.text("id")}`;
  await apiClient(running.gateway).get(`${path}?secret=${secret}`);
  await apiClient(running.gateway).post(`${path}/confirm?secret=${secret}`);
  await apiClient(running.gateway).get(`${path}?secret=${secret}x`);
  await apiClient(running.gateway).get(`/nowhere?secret=${secret}`);
  const endpoint = await merchant.api.post("/v1/merchants/me/webhooks", {
    url: "https://localhost:8443/hook",
    event_types: ["test.ping"],
  });
  const last = await merchant.api.get("/v1/merchants/me");
  await lineOf(last);
  const hidden = [secret, secret.slice(-43), merchant.apiKey, endpoint.text("signing_secret"), "hush hush", "whisper@"];
  hidden.push(session.text("render.client_secret"));
  for (const service of ["gateway", "checkout", "payments", "merchant", "webhook"]) {
    const log = await readFile(logFile(running, service), "utf8");
    for (const text of hidden) assert.ok(!log.includes(text), `${service} logs ${text.slice(0, 12)}…`);
  }
});

test("a valid traceparent is continued, in the gateway and in the service behind it; an invalid one begins a new trace", async () => {
  const trace = randomBytes(16).toString("hex");
  const get = (traceparent: string) => merchant.api.get("/v1/merchants/me", { traceparent });
  const continued = await lineOf(await get(`00-${trace}-${randomBytes(8).toString("hex")}-01`));
  assert.equal(continued.trace_id, trace);
  for (const wrong of ["nonsense", `00-${"0".repeat(32)}-${"1".repeat(16)}-01`, `ff-${trace}-x-01`]) {
    const { trace_id: begun } = await lineOf(await get(wrong));
    assert.match(String(begun), /^[0-9a-f]{32}$/);
    assert.notEqual(begun, trace);
  }
});

test.run();
