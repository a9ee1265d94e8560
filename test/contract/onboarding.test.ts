// docs/contract.md §8 POST /v1/onboarding/applications/{id}/submit; docs/contract.md §8.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import { type Caller, contractCaller, contractSuite } from "./caller.ts";
import { approveApplication } from "./operator.ts";

const { test, running } = contractSuite("onboarding");
const full = {
  applicant_email: "owner@lemonbooks.example",
  legal_name: "Lemon Books GmbH",
  trading_name: "Lemon Books",
  country_code: "de",
  currency_code: "eur",
};
let api: Caller;

test.before(async () => {
  api = await contractCaller(running, "");
});

const create = (body: object) => api.call("createApplication", 201, { body });
const submit = (id: string) => api.call("submitApplication", 200, { path: { id } });

test("docs/contract.md §8: a draft takes any of its fields, without an API key", async () => {
  const draft = await create(full);
  const { id, created_at: at, ...rest } = draft.body;
  assert.match(String(id), /^ma_/);
  assert.ok(at);
  const stored = { ...full, country_code: "DE", currency_code: "EUR" };
  assert.deepEqual(rest, { status: "draft", ...stored, missing: [] });
  const { created_at: _, id: __, ...empty } = (await create({})).body;
  assert.deepEqual(empty, { status: "draft", missing: Object.keys(full) });
});

// Proves getApplication: public, response, errors; updateApplication: public, body, errors
test("docs/contract.md §8: a draft is read and changed by its id until it is submitted; then only its status is shown", async () => {
  const id = (await create({ legal_name: "Lemon Boks" })).text("id");
  const read = async () => (await api.call("getApplication", 200, { path: { id } })).body;
  const change = (body: object) => api.call("updateApplication", 200, { path: { id }, body });
  assert.deepEqual(
    (await read()).missing,
    Object.keys(full).filter((name) => name !== "legal_name"),
  );
  const changed = await change({ ...full, trading_name: null });
  assert.deepEqual([changed.text("legal_name"), changed.at("missing")], [full.legal_name, ["trading_name"]]);
  assert.deepEqual(await read(), changed.body);
  const refused = (body: object) => api.refused("updateApplication", 400, "invalid_body", { path: { id }, body });
  for (const body of [
    {},
    { currency_code: "XXX" },
    { country_code: "Germany" },
    { applicant_email: "me" },
    { name: "x" },
  ])
    await refused(body);
  assert.deepEqual(await read(), changed.body, "a refusal changes nothing");
  await change({ trading_name: full.trading_name });
  await submit(id);
  assert.deepEqual(Object.keys(await read()).sort(), ["created_at", "id", "status"]);
  assert.match((await refused({ legal_name: "Other" })).raw, /only a draft can be changed/);
  const path = { id: "ma_00000000000000000000000000" };
  await api.refused("getApplication", 404, "not_found", { path });
  await api.refused("updateApplication", 404, "not_found", { path, body: { legal_name: "x" } });
});

// Proves submitApplication: public, response
test("docs/contract.md §8: submit moves a whole draft to submitted, and again answers its state", async () => {
  const id = (await create(full)).text("id");
  assert.equal((await submit(id)).text("status"), "submitted");
  assert.equal((await submit(id)).text("status"), "submitted");
  const merchantId = await approveApplication(running, id);
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
