// The simulator's webhooks: signed, complete, repeated until accepted, also after kill -9; and their fault switches.
import { type ChildProcess, fork } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { freePort } from "../../../deploy/local/free-port.ts";
import { freshDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import {
  cardThatSucceeds,
  type ReceivedEvent,
  secretKey,
  simulatorCaller,
  startReceiver,
  startRig,
  webhookSecret,
} from "./service.ts";

const test = suite("simulator-webhooks", { timeoutMs: 20_000 });

const rig = fixture(test, () => startRig());
test.beforeEach(() => {
  rig.receiver.received.length = 0;
  rig.receiver.status = 200;
});
test.afterEach(() => rig.call("DELETE", "/test/faults"));

const of = (id: string) => rig.receiver.received.filter((event) => event.data.intent.id === id);
const typesOf = (events: readonly ReceivedEvent[]) => events.map(({ type }) => type);
const fault = (members: object) => rig.call("PUT", "/test/faults", { target: "webhooks", ...members });

test("an event is signed over its exact bytes and has the whole intent of its time", async () => {
  const { id } = await rig.paidIntent();
  const [event] = await eventually("the event", () => of(id).length === 1 && of(id));
  assert.ok(event);
  const [, at = "", mac = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(event.signature) ?? [];
  assert.is(createHmac("sha256", webhookSecret).update(`${at}.${event.raw}`).digest("hex"), mac);
  assert.ok(Math.abs(Number(at) - Date.now() / 1_000) < 10);
  assert.equal([event.type, event.account, event.path], ["intent.succeeded", "acct_test", "/hooks/acct_test"]);
  assert.equal(event.data.intent, (await rig.call("GET", `/api/intents/${id}`)).body);
});

test("each change has its event type", async () => {
  const { id } = await rig.intent();
  const pay = (card: string) => rig.call<{ challenge_url: string }>("POST", `/test/intents/${id}/pay`, { card });
  await pay("4000000000000002");
  const { pathname, hash } = new URL((await pay("4000002500003155")).body.challenge_url);
  await rig.call("POST", pathname, { token: hash.slice(1), outcome: "pass" });
  const refund = await rig.call("POST", `/test/intents/${id}/refunds`, { amount: 10, status: "pending" });
  await rig.call("POST", `/test/refunds/${refund.body.id}`, { status: "succeeded" });
  const dispute = await rig.call("POST", `/test/intents/${id}/disputes`, {});
  await rig.call("POST", `/test/disputes/${dispute.body.id}`, { status: "under_review" });
  await rig.call("POST", `/test/disputes/${dispute.body.id}`, { status: "lost" });
  const canceled = await rig.intent();
  await rig.call("POST", `/api/intents/${canceled.id}/cancel`);
  const slow = await rig.paidIntent("4000000000006108");
  const expected = [
    "intent.attempt_failed",
    "intent.requires_action",
    "intent.succeeded",
    "refund.created",
    "refund.updated",
    "dispute.opened",
    "dispute.updated",
    "dispute.closed",
  ];
  await eventually("all events", () => of(id).length === expected.length);
  assert.equal(typesOf(of(id)).sort(), expected.sort());
  await eventually("the cancellation", () => typesOf(of(canceled.id)).join() === "intent.canceled");
  await eventually("the settlement", () => typesOf(of(slow.id)).join() === "intent.processing,intent.succeeded");
});

test("a rejected event is repeated with the same bytes until it is accepted", async () => {
  rig.receiver.status = 500;
  const { id } = await rig.paidIntent();
  await eventually("two attempts", () => of(id).length >= 2);
  rig.receiver.status = 204;
  await eventually("the delivery", async () => {
    const { body } = await rig.call<{ data: { delivered_at: string | null }[] }>("GET", `/test/events?intent=${id}`);
    return body.data.length === 1 && typeof body.data[0]?.delivered_at === "string";
  });
  assert.is(new Set(of(id).map(({ raw }) => raw)).size, 1);
});

test("an event can be sent again on demand", async () => {
  const { id } = await rig.paidIntent();
  const [event] = await eventually("the event", () => of(id).length === 1 && of(id));
  await rig.call("POST", `/test/events/${event?.id}/resend`);
  await eventually("the repeat", () => of(id).length === 2);
  assert.is(of(id)[1]?.raw, event?.raw);
});

test("duplicate: each event arrives twice", async () => {
  await fault({ kind: "duplicate", count: 1 });
  const { id } = await rig.paidIntent();
  await eventually("two", () => of(id).length === 2);
});

test("drop_once: an event is lost once and arrives with the retry", async () => {
  await fault({ kind: "drop_once", count: 1 });
  const { id } = await rig.paidIntent();
  await eventually("the retry", () => of(id).length === 1);
  await eventually("both attempts to be recorded", async () => {
    const { body } = await rig.call<{ data: { attempts: number }[] }>("GET", `/test/events?intent=${id}`);
    return body.data[0]?.attempts === 2;
  });
});

test("reorder: events of one window arrive newest first", async () => {
  const { id } = await rig.paidIntent();
  await eventually("the payment", () => of(id).length === 1);
  await fault({ kind: "reorder", ms: 1_000 });
  for (const amount of [1, 2, 3]) await rig.call("POST", `/test/intents/${id}/refunds`, { amount });
  const events = await eventually("the refunds", () => of(id).length === 4 && of(id).slice(1));
  const counts = events.map(({ data }) => data.intent.refunds.length);
  // They may fall into two windows; within each the newest is first.
  assert.ok(["3,2,1", "1,3,2", "2,1,3"].includes(counts.join()), counts.join());
});

test("delay: an event comes later", async () => {
  await fault({ kind: "delay", ms: 300, count: 1 });
  const begin = performance.now();
  const { id } = await rig.paidIntent();
  await eventually("the event", () => of(id).length === 1);
  assert.ok(performance.now() - begin >= 295);
});

test("kill -9 after the answers loses no payment, delayed fact, key or webhook", async () => {
  const [database, receiver, port] = await Promise.all([freshDatabase(), startReceiver(), freePort()]);
  const env = {
    PORT: String(port),
    DATABASE_URL: database.url,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    SIMULATOR_SECRET_KEY: secretKey,
    SIMULATOR_WEBHOOK_SECRET: webhookSecret,
    SIMULATOR_WEBHOOK_URL: receiver.webhookUrl,
    SIMULATOR_DELAY_MS: "200",
    LOG_LEVEL: "error",
  };
  const call = simulatorCaller(env.PUBLIC_URL);
  receiver.status = 500; // no webhook is accepted before the kill
  const first = await startProcess(env);
  const create = () =>
    call("POST", "/api/intents", { amount: 500, currency: "EUR", reference: "pay_k" }, { "idempotency-key": "kill" });
  const { body: intent } = await create();
  const paid = await call("POST", `/test/intents/${intent.id}/pay`, { card: "4000000000000259" });
  const others = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const { body } = await call("POST", "/api/intents", { amount: 1, currency: "EUR", reference: `pay_k${i}` });
      await call("POST", `/test/intents/${body.id}/pay`, { card: cardThatSucceeds });
      return body.id;
    }),
  );
  first.kill("SIGKILL");
  await once(first, "exit");
  receiver.status = 200;
  receiver.received.length = 0;
  const second = await startProcess(env);
  assert.is(paid.body.status, "succeeded");
  assert.equal((await create()).body, intent);
  const arrived = (id: string, type: string) =>
    receiver.received.some((event) => event.data.intent.id === id && event.type === type);
  for (const id of [intent.id, ...others]) await eventually("its payment", () => arrived(id, "intent.succeeded"));
  await eventually("the dispute", () => arrived(intent.id, "dispute.opened"));
  second.kill("SIGTERM");
  const [code] = await once(second, "exit");
  assert.is(code, 0);
  await receiver.close();
});

async function startProcess(env: Record<string, string>): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, "../../../services/simulator/main.ts"), [], { env, stdio: "inherit" });
  const [message] = await once(child, "message");
  assert.equal(message, { ready: true });
  return child;
}

test.run();
