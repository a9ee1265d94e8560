// A stack whose gateway, services and consoles are parts of one process: what it is between its parts, how it ends, and
// that what one part lacks is not missing to the others.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { connectPeer } from "#platform/rpc/client.ts";
import { StatusService } from "#proto/status/v1/status_pb.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { type BadLink, openLink } from "../chaos/link.ts";
import { failProcessor, hasFailed } from "../contract/operator.ts";
import { eventually } from "../harness/eventually.ts";
import { logFile } from "../harness/files/stack-logs.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { type Receiver, startReceiver } from "../harness/receiver.ts";
import { startTestStack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";

const test = suite("one process", { timeoutMs: 120_000 });
const parts = ["gateway", "checkout", "payments", "merchant", "webhook"] as const;
const order = { amount: 1000, currency: "EUR" };
let running: RunningStack;
let receiver: Receiver;
let databaseLink: BadLink;
let [databasePort, isDatabaseAway] = [0, false];
// No server listens there.
const nowhere = 9;

test.before(async () => {
  databaseLink = await openLink(() => (isDatabaseAway ? nowhere : databasePort));
  running = await startTestStack({
    shape: "one",
    env: { RECONCILE_AFTER_SECONDS: "1" },
    envOf: (name, set) => (name === "payments" ? throughLink(set.DATABASE_URL ?? "") : {}),
  });
  receiver = await startReceiver(running.stack.tls);
});
test.after(async () => {
  await receiver.close();
  await running.stop();
  await databaseLink.close();
});

/** The payments' way to its database alone leads over a link that the test cuts. */
function throughLink(databaseUrl: string): Record<string, string> {
  const url = new URL(databaseUrl);
  databasePort = Number(url.port);
  url.hostname = "127.0.0.1";
  url.port = String(databaseLink.port);
  return { DATABASE_URL: url.href };
}

const metricsOf = async (service: (typeof parts)[number]) =>
  await (await fetch(`${running.stack.admin[service]}/metrics`)).text();

test("all parts are one process, without the card processor's simulator", () => {
  const { pids } = running.stack;
  assert.deepEqual(
    parts.filter((name) => pids[name] !== undefined),
    [],
  );
  assert.ok(pids.one !== undefined && pids.simulator !== undefined);
});

test("each part has its calls, jobs and connections at its admin port, and one part the process's metrics", async () => {
  const merchant = await freshMerchant(running.stack);
  (await merchant.api.post("/v1/checkout-sessions", order)).expect(201);
  const metrics = new Map(await Promise.all(parts.map(async (name) => [name, await metricsOf(name)] as const)));
  const having = (text: RegExp) => parts.filter((name) => text.test(metrics.get(name) ?? ""));
  assert.deepEqual(having(/tollbooth_rpc_seconds_count\{rpc="checkout\.v1\.CheckoutService\/CreateSession"/), [
    "checkout",
  ]);
  assert.deepEqual(having(/tollbooth_rpc_seconds_count\{rpc="payments\.v1\.PaymentsService\/CreateIntent"/), [
    "payments",
  ]);
  assert.deepEqual(having(/tollbooth_http_request_seconds_count\{[^}]*route="\/v1\/checkout-sessions"/), ["gateway"]);
  assert.deepEqual(
    having(/tollbooth_job_limit_seconds\{name="sync-clock"\}/),
    parts.slice(1),
    "each has a clock of its own",
  );
  assert.deepEqual(having(/tollbooth_job_limit_seconds\{name="expire-sessions"\}/), ["checkout"]);
  assert.deepEqual(having(/tollbooth_database_connections\{state="open"\} [1-9]/), parts.slice(1));
  assert.deepEqual(
    having(/tollbooth_mails_total\{outcome="sent"\} 0/),
    ["merchant"],
    "what begins with 0 does so there",
  );
  assert.deepEqual(having(/tollbooth_webhook_in_flight/), ["webhook"]);
  assert.deepEqual(having(/process_resident_memory_bytes/), ["gateway"]);
  for (const name of parts)
    assert.match(metrics.get(name) ?? "", new RegExp(`tollbooth_process_ready\\{service="${name}"\\} 1`));
});

test("each service answers an operator at its own port, of its own database and jobs", async () => {
  for (const name of ["checkout", "payments", "merchant", "webhook"] as const) {
    const peer = connectPeer({ url: running.stack.rpc[name], token: running.stack.rpc_token });
    const status = await peer.client(StatusService).getStatus({});
    peer.close();
    assert.equal(status.service, name);
    const jobs = status.jobs.map((job) => job.name);
    assert.equal(jobs.filter((job) => job === "sync-clock").length, 1, `${name}: ${jobs.join(", ")}`);
  }
});

test("on SIGTERM it answers open requests, and stops callers before the services that they call", async () => {
  const merchant = await freshMerchant(running.stack);
  const hook = { url: `${receiver.url}/hook`, event_types: ["payment.succeeded", "test.ping"] };
  (await merchant.api.post("/v1/merchants/me/webhooks", hook)).expect(201);
  await failProcessor(running.stack, merchant, { target: "api.intents.create", kind: "delay", ms: 2_500, count: 1 });
  const pending = merchant.api.post("/v1/checkout-sessions", order, { "idempotency-key": "last" });
  await eventually("the call to be with the processor", () => hasFailed(running.stack, merchant));
  const log = logFile(running.stack, "gateway");
  const before = (await readFile(log, "utf8")).length;
  await running.halt("one");
  const session = (await pending).expect(201);
  const lines = (await readFile(log, "utf8"))
    .slice(before)
    .split("\n")
    .filter((line) => line.startsWith("{"));
  const stopped = lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === "stopped")
    .map(({ service }) => service);
  const at = (name: string) => stopped.indexOf(name);
  for (const [caller, called] of [
    ["gateway", "checkout"],
    ["console", "checkout"],
    ["operators-console", "webhook"],
    ["gateway", "webhook"],
    ["checkout", "payments"],
    ["webhook", "payments"],
    ["payments", "merchant"],
  ] as const) {
    assert.ok(at(caller) >= 0 && at(caller) < at(called), `${caller} before ${called}: ${stopped.join(", ")}`);
  }
  assert.ok(!lines.some((line) => /stop (failed|timed out)/.test(line)));
  await running.resume("one");
  const again = await merchant.api.post("/v1/checkout-sessions", order, { "idempotency-key": "last" });
  assert.equal(again.expect(201).text("id"), session.text("id"));
});

test("a service whose database is away fails its own calls alone, also over a restart, and comes back by itself", async () => {
  const merchant = await freshMerchant(running.stack);
  const payments = () => merchant.api.get("/v1/payments");
  (await payments()).expect(200);
  isDatabaseAway = true;
  databaseLink.cut();
  try {
    await eventually("payments to be away", async () => (await payments()).status === 503);
    (await merchant.api.get("/v1/merchants/me")).expect(200);
    (await merchant.api.get("/v1/merchants/me/webhooks")).expect(200);
    await running.halt("one");
    const back = running.resume("one");
    back.catch(() => {});
    const others = async () => (await merchant.api.get("/v1/merchants/me")).status === 200;
    await eventually("the others to be back", others, { limitMs: 50_000 });
    assert.equal((await payments()).status, 503);
    const ready = async (service: "payments" | "merchant") =>
      (await fetch(`${running.stack.admin[service]}/readyz`)).status;
    assert.deepEqual([await ready("payments"), await ready("merchant")], [503, 200]);
    isDatabaseAway = false;
    await back;
    (await payments()).expect(200);
  } finally {
    isDatabaseAway = false;
  }
});

test.run();
