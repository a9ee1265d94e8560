// docs/contract.md §8 POST /v1/onboarding/applications/{id}/submit; docs/contract.md §8.

import assert from "node:assert/strict";
import { membersOf } from "#platform/values/members.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { type Caller, caller } from "./caller.ts";
import { approve } from "./operator.ts";

const test = suite("onboarding");
const full = {
  applicant_email: "owner@lemonbooks.example",
  legal_name: "Lemon Books GmbH",
  trading_name: "Lemon Books",
  country_code: "de",
  currency_code: "eur",
};
let running: StackInfo;
let api: Caller;

test.before(async () => {
  running = await stack();
  api = await caller(running, "");
});

const create = (body: object) => api.call("createApplication", 201, { body });
const submit = (id: string) => api.call("submitApplication", 200, { path: { id } });

test("docs/contract.md §8: a draft takes any of its fields, without an API key", async () => {
  const draft = await create(full);
  const { id, created_at: at, ...rest } = draft.body;
  assert.match(String(id), /^ma_/);
  assert.ok(at);
  assert.deepEqual(rest, { status: "draft", ...full, country_code: "DE", currency_code: "EUR" });
  assert.deepEqual(Object.keys((await create({})).body).sort(), ["created_at", "id", "status"]);
});

// Proves submitApplication: public, response
test("docs/contract.md §8: submit moves a whole draft to submitted, and again answers its state", async () => {
  const id = (await create(full)).text("id");
  assert.equal((await submit(id)).text("status"), "submitted");
  assert.equal((await submit(id)).text("status"), "submitted");
  const merchantId = await approve(running, id);
  const approved = await submit(id);
  assert.deepEqual([approved.text("status"), approved.text("merchant_id")], ["approved", merchantId]);
});

test("docs/contract.md §8: submit of a draft with gaps is invalid_body and names them", async () => {
  const { legal_name, country_code, ...partial } = full;
  assert.ok(legal_name && country_code);
  const id = (await create(partial)).text("id");
  const answer = await api.refused("submitApplication", 400, "invalid_body", { path: { id } });
  const fields = answer.list("error.details").map((each) => membersOf(each).field);
  assert.deepEqual(fields.sort(), ["country_code", "legal_name"]);
});

// Proves submitApplication: errors
test("docs/contract.md §2: wrong fields are invalid_body, unknown applications not_found", async () => {
  const wrong: [string, Record<string, unknown>][] = [
    ["applicant_email", { applicant_email: "x" }],
    ["legal_name", { legal_name: "x".repeat(201) }],
    ["trading_name", { trading_name: "x".repeat(101) }],
    ["country_code", { country_code: "DEU" }],
    ["currency_code", { currency_code: "XYZ" }],
    ["currency_code", { currency_code: 7 }],
  ];
  for (const [field, body] of wrong) {
    const answer = await api.refused("createApplication", 400, "invalid_body", { body });
    assert.equal(answer.at("error.details.0.field"), field, JSON.stringify(body).slice(0, 80));
  }
  for (const id of ["ma_01jd3v9q6k8m2n4p6r8t0v2x4z", "ma_", "%00"]) {
    await api.refused("submitApplication", 404, "not_found", { path: { id } });
  }
});

test("every described code of these operations was seen", () =>
  api.sawEverything([], "createApplication", "submitApplication"));

test.run();
