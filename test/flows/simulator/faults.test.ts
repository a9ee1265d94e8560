// The simulator's fault switches on API calls, and its behaviour without a database. A connector's conclusions from the
// faults are in test/connectors/simulator-answers.test.ts.
import * as assert from "uvu/assert";
import { openLink } from "../../chaos/link.ts";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { startRig } from "./service.ts";

const test = suite("simulator-faults");

const rig = fixture(test, () => startRig());
test.afterEach(() => rig.call("DELETE", "/test/faults"));

const fault = (members: object) => rig.call<{ id: string; error?: { field: string } }>("PUT", "/test/faults", members);
const create = (reference: string, key: string, on = rig) =>
  on.call("POST", "/api/intents", { amount: 100, currency: "EUR", reference }, { "idempotency-key": key });
const countOf = async (reference: string, on = rig) =>
  (await on.call<{ data: unknown[] }>("GET", `/api/intents?reference=${reference}`)).body.data.length;
const isReplay = (answer: { headers: Headers }) => answer.headers.get("idempotent-replayed") === "true";

test("a 500 is stored for its key; a refusal before any work is not", async () => {
  for (const [kind, first, again, made] of [
    ["error_before", 500, 500, 0],
    ["error_after", 500, 500, 1],
    ["edge_error", 503, 201, 1],
    ["too_many", 429, 201, 1],
    ["conflict", 409, 201, 1],
  ] as const) {
    await fault({ target: "api.intents.create", kind, count: 1 });
    const [reference, key] = [`pay_${kind}`, `k-${kind}`];
    assert.is((await create(reference, key)).status, first, kind);
    const repeat = await create(reference, key);
    assert.equal([repeat.status, isReplay(repeat), await countOf(reference)], [again, again === 500, made], kind);
  }
});

test("delay: the answer comes later", async () => {
  await fault({ target: "api.intents.get", kind: "delay", ms: 200, count: 1 });
  const begin = performance.now();
  await countOf("pay_any");
  assert.ok(performance.now() - begin >= 195);
});

test("an invalid switch is 400", async () => {
  assert.is((await fault({ target: "api.*", kind: "reorder" })).body.error?.field, "kind");
  assert.is((await fault({ target: "webhooks", kind: "error_before" })).body.error?.field, "kind");
  assert.is((await fault({ target: "api.nothing", kind: "delay" })).body.error?.field, "target");
  assert.is((await fault({ target: "api.*", kind: "delay", probability: 2 })).body.error?.field, "probability");
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

test("without its database it answers 503 until the database is back", async () => {
  const [closedPort, target] = [9, { url: new URL("tcp://nowhere"), isUp: true }];
  const link = await openLink(() => (target.isUp ? Number(target.url.port) : closedPort));
  const own = await startRig(async (databaseUrl) => {
    target.url = new URL(databaseUrl);
    return Object.assign(new URL(databaseUrl), { host: `127.0.0.1:${link.port}` }).href;
  });
  const { id } = await own.intent();
  target.isUp = false;
  link.cut();
  assert.is((await own.call("GET", `/api/intents/${id}`)).status, 503);
  assert.is((await own.call("GET", "/healthz")).status, 503);
  target.isUp = true;
  await eventually("the API to be back", async () => (await own.call("GET", `/api/intents/${id}`)).status === 200);
  assert.is((await own.paidIntent()).status, "succeeded");
  await eventually("its webhook", () => own.receiver.received.some(({ type }) => type === "intent.succeeded"));
  await own.stop();
  await link.close();
});

test.run();
