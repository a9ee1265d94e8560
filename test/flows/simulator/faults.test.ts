// The simulator's fault switches on API calls, and its behaviour without a database.
import * as assert from "uvu/assert";
import { openLink } from "../../chaos/link.ts";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { startRig } from "./service.ts";

const test = suite("simulator-faults");

const rig = fixture(test, () => startRig());
test.afterEach(() => rig.call("DELETE", "/test/faults"));

const fault = (members: object) => rig.call<{ id: string; error?: { field: string } }>("PUT", "/test/faults", members);
const create = (reference: string, key?: string) =>
  rig.call("POST", "/api/intents", { amount: 100, currency: "EUR", reference }, key ? { "idempotency-key": key } : {});
const countOf = async (reference: string) =>
  (await rig.call<{ data: unknown[] }>("GET", `/api/intents?reference=${reference}`)).body.data.length;

test("error_before: 500, nothing was done, and the key repeats that 500", async () => {
  await fault({ target: "api.intents.create", kind: "error_before", count: 1 });
  const first = await create("pay_before", "kb");
  const again = await create("pay_before", "kb");
  assert.equal([first.status, again.status], [500, 500]);
  assert.is(again.headers.get("idempotent-replayed"), "true");
  assert.is(await countOf("pay_before"), 0);
  assert.is((await create("pay_before", "kb-other")).status, 201);
});

test("error_after: 500, the work was done, and the key repeats that 500", async () => {
  await fault({ target: "api.intents.create", kind: "error_after", count: 1 });
  const first = await create("pay_after", "ka");
  const again = await create("pay_after", "ka");
  assert.equal([first.status, again.status], [500, 500]);
  assert.is(again.headers.get("idempotent-replayed"), "true");
  assert.is(await countOf("pay_after"), 1);
});

test("hang_after: no answer, the work was done, and the key repeats its true answer", async () => {
  await fault({ target: "api.intents.create", kind: "hang_after", count: 1 });
  const body = JSON.stringify({ amount: 100, currency: "EUR", reference: "pay_hang" });
  const givesUp = fetch(`${rig.url}/api/intents`, {
    method: "POST",
    headers: {
      authorization: "Bearer sim_secret_key_of_tests",
      "processor-account": "acct_test",
      "content-type": "application/json",
      "idempotency-key": "kh",
    },
    body,
    signal: AbortSignal.timeout(1_000),
  });
  const outcome = await givesUp.then(
    ({ status }) => status,
    (error: Error) => error.name,
  );
  assert.is(outcome, "TimeoutError");
  const again = await create("pay_hang", "kh");
  assert.equal([again.status, again.headers.get("idempotent-replayed")], [201, "true"]);
  assert.is(await countOf("pay_hang"), 1);
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
