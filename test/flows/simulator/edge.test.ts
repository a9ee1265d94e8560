// The simulator's fault switches around the work: an edge that answers for its origin, work that outlives its answer,
// refusals before any work, broken answers, stale lists.
import * as assert from "uvu/assert";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { startRig } from "./service.ts";

const test = suite("simulator-edge");

const rig = fixture(test, () => startRig());
test.afterEach(() => rig.call("DELETE", "/test/faults"));

interface ErrorBody {
  readonly error: { readonly code: string };
}

const fault = (members: object) => rig.call<{ id: string; error?: { field: string } }>("PUT", "/test/faults", members);
const create = (reference: string, key: string, on = rig) =>
  on.call<ErrorBody & { id: string }>(
    "POST",
    "/api/intents",
    { amount: 100, currency: "EUR", reference },
    { "idempotency-key": key },
  );
const countOf = async (reference: string, on = rig) =>
  (await on.call<{ data: unknown[] }>("GET", `/api/intents?reference=${reference}`)).body.data.length;
const isReplay = (answer: { headers: Headers }) => answer.headers.get("idempotent-replayed") === "true";
const isHtml = (answer: { headers: Headers }) => answer.headers.get("content-type") === "text/html";

test("answer_early: 502 first, 409 and an empty list during the work, then the key repeats the true answer", async () => {
  await fault({ target: "api.intents.create", kind: "answer_early", ms: 2_000, count: 1 });
  const early = await create("pay_early", "ke");
  assert.equal([early.status, isHtml(early), isReplay(early)], [502, true, false]);
  const during = await create("pay_early", "ke");
  assert.equal([during.status, during.body.error.code], [409, "idempotency_key_in_use"]);
  assert.is(await countOf("pay_early"), 0);
  const done = await eventually("the true answer", async () => {
    const answer = await create("pay_early", "ke");
    return answer.status !== 409 && answer;
  });
  assert.equal([done.status, isReplay(done), await countOf("pay_early")], [201, true, 1]);
});

test("a stop waits for the work behind an early answer", async () => {
  const own = await startRig();
  await own.call("PUT", "/test/faults", { target: "api.intents.create", kind: "answer_early", ms: 60_000 });
  assert.is((await create("pay_stop", "ks", own)).status, 502);
  await own.stop();
  const next = await startRig(undefined, { databaseUrl: own.databaseUrl });
  await next.call("DELETE", "/test/faults");
  const again = await create("pay_stop", "ks", next);
  assert.equal([again.status, isReplay(again), await countOf("pay_stop", next)], [201, true, 1]);
  await next.stop();
});

test("error_during: 500, kept for the key, and the work is done a moment later", async () => {
  await fault({ target: "api.intents.create", kind: "error_during", ms: 1_000, count: 1 });
  assert.is((await create("pay_during", "kd")).status, 500);
  assert.is(await countOf("pay_during"), 0);
  await eventually("the work", async () => (await countOf("pay_during")) === 1);
  const again = await create("pay_during", "kd");
  assert.equal([again.status, isReplay(again), await countOf("pay_during")], [500, true, 1]);
});

test("edge_error, too_many, conflict: no work is done and no answer kept", async () => {
  for (const [kind, status] of [
    ["edge_error", 503],
    ["too_many", 429],
    ["conflict", 409],
  ] as const) {
    await fault({ target: "api.intents.create", kind, count: 1 });
    const [reference, key] = [`pay_${kind}`, `k-${kind}`];
    const first = await create(reference, key);
    assert.equal([first.status, isHtml(first)], [status, kind === "edge_error"], kind);
    assert.is(await countOf(reference), 0, kind);
    const again = await create(reference, key);
    assert.equal([again.status, isReplay(again)], [201, false], kind);
  }
});

test("reads can be refused and cut too", async () => {
  const { id } = await rig.intent();
  const get = () => rig.call("GET", `/api/intents/${id}`).then(({ status }) => status, String);
  for (const [kind, expected] of [
    ["edge_error", 503],
    ["too_many", 429],
    ["conflict", 409],
    ["cut", "TypeError: terminated"],
  ] as const) {
    await fault({ target: "api.intents.get", kind, count: 1 });
    assert.equal([await get(), await get()], [expected, 200], kind);
  }
});

test("cut: the answer breaks off, the work is done, and the key repeats the true answer", async () => {
  await fault({ target: "api.intents.create", kind: "cut", count: 1 });
  const response = await fetch(`${rig.url}/api/intents`, {
    method: "POST",
    headers: {
      authorization: "Bearer sim_secret_key_of_tests",
      "processor-account": "acct_test",
      "content-type": "application/json",
      "idempotency-key": "kc",
    },
    body: JSON.stringify({ amount: 100, currency: "EUR", reference: "pay_cut" }),
  });
  assert.is(response.status, 201);
  assert.is(await response.text().catch((error: Error) => error.message), "terminated");
  const again = await create("pay_cut", "kc");
  assert.equal([again.status, isReplay(again), await countOf("pay_cut")], [201, true, 1]);
});

test("stale_list: lists by reference and the statement lag, reads by id do not", async () => {
  const { id, reference } = await rig.paidIntent();
  const { body: refund } = await rig.call("POST", "/api/refunds", { intent: id, amount: 1, reference: "re_stale" });
  const lists = [
    `/api/intents?reference=${reference}`,
    "/api/refunds?reference=re_stale",
    `/api/statement?from=${new Date(Date.now() - 60_000).toISOString()}&to=2100-01-01T00:00:00Z`,
  ];
  const shown = () =>
    Promise.all(
      lists.map(async (path) => {
        const { data } = (await rig.call<{ data: { id: string }[] }>("GET", path)).body;
        return data.some((one) => one.id === id || one.id === refund.id);
      }),
    );
  await fault({ target: "api.*", kind: "stale_list", ms: 3_600_000 });
  assert.equal(await shown(), [false, false, false]);
  assert.is((await rig.call("GET", `/api/intents/${id}`)).status, 200);
  assert.is((await rig.call("GET", `/api/refunds/${refund.id}`)).status, 200);
  await rig.call("DELETE", "/test/faults");
  assert.equal(await shown(), [true, true, true]);
  await fault({ target: "api.*", kind: "stale_list", ms: 200 });
  await eventually("the lists to catch up", async () => (await shown()).every(Boolean));
});

test("missing: an existing object is 404 by its id only", async () => {
  const { id, reference } = await rig.paidIntent();
  const { body: refund } = await rig.call("POST", "/api/refunds", { intent: id, amount: 1, reference: "re_missing" });
  await fault({ target: "api.*", kind: "missing", count: 2 });
  assert.is((await rig.call("GET", `/api/intents/${id}`)).status, 404);
  assert.is((await rig.call("GET", `/api/refunds/${refund.id}`)).status, 404);
  await fault({ target: "api.*", kind: "missing" });
  assert.is(await countOf(reference), 1);
  await rig.call("DELETE", "/test/faults");
  assert.is((await rig.call("GET", `/api/intents/${id}`)).status, 200);
});

test("a switch for api.* is not used up by calls that it does not apply to", async () => {
  await fault({ target: "api.*", kind: "answer_early", ms: 1, count: 1 });
  assert.is(await countOf("pay_reads"), 0);
  assert.is((await create("pay_reads", "kr")).status, 502);
  assert.is((await fault({ target: "api.intents.create", kind: "stale_list" })).body.error?.field, "kind");
  assert.is((await fault({ target: "api.statement.get", kind: "missing" })).body.error?.field, "kind");
});

test("every answer has the processor's time", async () => {
  const paths = ["/api/intents/pi_nothing", "/api/intents?reference=pay_nothing", "/api/events", "/healthz"];
  for (const path of paths) {
    const { headers } = await rig.call("GET", path);
    assert.ok(Math.abs(Date.parse(headers.get("date") ?? "") - Date.now()) < 5_000, path);
  }
});

test.run();
