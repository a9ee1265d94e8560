// The simulator's fault switches on API calls, and what it does while its database is away.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import * as assert from "uvu/assert";
import { eventually } from "../../harness/eventually.ts";
import { suite } from "../../harness/suite.ts";
import { type SimulatorRig, startRig } from "./service.ts";

const test = suite("simulator-faults");
let rig: SimulatorRig;

test.before(async () => {
  rig = await startRig();
});
test.afterEach(() => rig.call("DELETE", "/test/faults"));
test.after(() => rig.stop());

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

test("each target is its own; api.* means all of them", async () => {
  const { id } = await rig.paidIntent();
  const { body: refund } = await rig.call("POST", "/api/refunds", { intent: id, amount: 1, reference: "re_targets" });
  const calls = {
    "api.intents.create": () => create("pay_targets"),
    "api.intents.get": () => rig.call("GET", `/api/intents/${id}`),
    "api.intents.cancel": () => rig.call("POST", `/api/intents/${id}/cancel`),
    "api.refunds.create": () => rig.call("POST", "/api/refunds", { intent: id, amount: 1, reference: "re_targets" }),
    "api.refunds.get": () => rig.call("GET", `/api/refunds/${refund.id}`),
  };
  for (const target of Object.keys(calls)) {
    await fault({ target, kind: "error_before" });
    for (const [name, call] of Object.entries(calls))
      assert.is((await call()).status === 500, name === target, `${name} under a fault of ${target}`);
    await rig.call("DELETE", "/test/faults");
  }
  await fault({ target: "api.*", kind: "error_before" });
  for (const call of Object.values(calls)) assert.is((await call()).status, 500);
});

test("a switch for an account or a reference leaves others alone", async () => {
  await fault({ target: "api.intents.create", kind: "error_before", account: "acct_other" });
  await fault({ target: "api.*", kind: "error_before", reference: "pay_chosen" });
  assert.is((await create("pay_spared")).status, 201);
  assert.is((await create("pay_chosen")).status, 500);
});

test("count limits how often it fires, and a seeded chance repeats exactly", async () => {
  const run = async () => {
    await fault({ target: "api.intents.get", kind: "error_before", probability: 0.5, seed: 7, count: 4 });
    const statuses: number[] = [];
    for (let i = 0; i < 20; i++) statuses.push((await rig.call("GET", "/api/intents?reference=none")).status);
    await rig.call("DELETE", "/test/faults");
    return statuses;
  };
  const first = await run();
  assert.is(first.filter((status) => status === 500).length, 4);
  assert.is.not(first.indexOf(200), -1);
  assert.equal(await run(), first);
});

test("a switch that makes no sense is 400", async () => {
  assert.is((await fault({ target: "api.*", kind: "reorder" })).body.error?.field, "kind");
  assert.is((await fault({ target: "webhooks", kind: "error_before" })).body.error?.field, "kind");
  assert.is((await fault({ target: "api.nothing", kind: "delay" })).body.error?.field, "target");
  assert.is((await fault({ target: "api.*", kind: "delay", probability: 2 })).body.error?.field, "probability");
});

test("while the database is away it answers 503, and goes on when it is back", async () => {
  const link = await startLink();
  const own = await startRig((databaseUrl) => link.through(databaseUrl));
  const { id } = await own.intent();
  link.cut();
  assert.is((await own.call("GET", `/api/intents/${id}`)).status, 503);
  assert.is((await own.call("GET", "/healthz")).status, 503);
  link.mend();
  await eventually("the API to be back", async () => (await own.call("GET", `/api/intents/${id}`)).status === 200);
  assert.is((await own.paidIntent()).status, "succeeded");
  await eventually("its webhook", () => own.receiver.received.some(({ type }) => type === "intent.succeeded"));
  await own.stop();
  await link.close();
});

/** A TCP relay that can be cut. */
async function startLink() {
  const sockets = new Set<Socket>();
  let target = { host: "", port: 0 };
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return near.destroy();
    const far = connect(target.port, target.host);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    async through(databaseUrl: string) {
      const url = new URL(databaseUrl);
      target = { host: url.hostname, port: Number(url.port) };
      url.host = `127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
      return url.href;
    },
    cut() {
      isCut = true;
      end();
    },
    mend() {
      isCut = false;
    },
    async close() {
      end();
      server.close();
      await once(server, "close");
    },
  };
}

test.run();
