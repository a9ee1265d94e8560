// kill -9 of each process under the main job, at every step at once, and of the one process where all are parts of it:
// proof that nothing was lost or doubled once it is back.
import assert from "node:assert/strict";
import type { StackShape } from "../../deploy/local/settings.ts";
import type { RunningStack } from "../../deploy/local/start.ts";
import { type Answer, api, merchantApi } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { pay } from "../harness/pay.ts";
import { type Receiver, startReceiver } from "../harness/receiver.ts";
import { startTestStack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";

// What a caller does who takes 409, 502, 503 and a cut connection as "ask again" (docs/contract.md §2).
const retryLimitMs = 120_000;
let running: RunningStack;
let receiver: Receiver;
const test = suite("kill -9", { timeoutMs: 240_000 });

test.before(() => start("separate"));
test.after(stop);

for (const name of ["checkout", "payments", "merchant", "webhook", "gateway", "simulator"]) {
  test(`${name} killed at every step of the main job loses and doubles nothing`, () => killAtEveryStep(name));
}

test("one process of all parts killed at every step of the main job loses and doubles nothing", async () => {
  await stop();
  await start("one");
  await killAtEveryStep("one");
});

async function stop(): Promise<void> {
  await receiver.close();
  await running.stop();
}

async function start(shape: StackShape): Promise<void> {
  // A crashed process holds keys, calls and circuits no longer than these, 90, 30 and 10 s as a rule. The pauses
  // between questions to the processor grow from the second one, so that several fit into the wait below.
  running = await startTestStack({
    shape,
    env: {
      IDEMPOTENCY_LEASE_SECONDS: "3",
      RECONCILE_AFTER_SECONDS: "1",
      EVENT_ACK_WAIT_SECONDS: "2",
      CIRCUIT_OPEN_MAX_SECONDS: "1",
    },
  });
  receiver = await startReceiver(running.stack.tls);
  const { gateway, api_key } = running.stack;
  const endpoint = { url: `${receiver.url}/hook`, event_types: ["payment.succeeded", "payment.refunded"] };
  (await merchantApi(gateway, api_key).post("/v1/merchants/me/webhooks", endpoint)).expect(201);
}

/** Asks until there is an answer that does not invite another try. */
function untilAnswered(what: string, ask: () => Promise<Answer>): Promise<Answer> {
  return eventually(
    what,
    async () => {
      const answer = await ask().catch(() => undefined);
      return answer && ![409, 429, 502, 503].includes(answer.status) ? answer : undefined;
    },
    { limitMs: retryLimitMs, everyMs: 100 },
  );
}

/** The main job, which waits before each step until it may go on. */
async function mainJob(name: string, atStep: (step: number) => Promise<void>): Promise<string> {
  const { gateway, api_key } = running.stack;
  const merchant = merchantApi(gateway, api_key);
  await atStep(0);
  const create = () =>
    merchant.post("/v1/checkout-sessions", { amount: 1000, currency: "EUR" }, { "idempotency-key": `c-${name}` });
  const session = (await untilAnswered("the session", create)).expect(201);
  await atStep(1);
  await eventually("the buyer to pay", async () => (await pay(session.text("render.frame_url"))).status === 200, {
    limitMs: retryLimitMs,
  });
  await atStep(2);
  const path = `/v1/checkout/${session.text("id")}/confirm?secret=${session.text("session_secret")}`;
  const confirmed = await eventually(
    "the session to complete",
    async () => {
      const answer = await api(gateway).post(path);
      return answer.at("status") === "completed" ? answer : undefined;
    },
    { limitMs: retryLimitMs },
  );
  const paymentId = confirmed.text("payment_id");
  await atStep(3);
  const refund = () =>
    merchant.post(`/v1/payments/${paymentId}/refunds`, { amount: 300 }, { "idempotency-key": `r-${name}` });
  (await untilAnswered("the refund", refund)).expect(201);
  return paymentId;
}

async function assertWhole(paymentId: string): Promise<void> {
  const { gateway, api_key } = running.stack;
  const merchant = merchantApi(gateway, api_key);
  const record = await eventually(
    "the refund to be settled",
    async () => {
      const answer = await merchant.get(`/v1/payments/${paymentId}`);
      return answer.at("refunds.0.status") === "succeeded" ? answer : undefined;
    },
    { limitMs: retryLimitMs },
  );
  assert.deepEqual([record.text("status"), record.number("refunded_amount")], ["partially_refunded", 300]);
  assert.equal(record.list("refunds").length, 1);
  for (const [type, status] of [
    ["payment.succeeded", "succeeded"],
    ["payment.refunded", "partially_refunded"],
  ]) {
    const body = JSON.stringify({ type, payment_id: paymentId, status });
    await receiver.waitFor((request) => request.body.toString() === body, retryLimitMs);
  }
}

/**
 * Four jobs stand before one step each; then all go on, and the victim is killed while their requests are on the way.
 */
async function killAtEveryStep(name: string): Promise<void> {
  const steps = [0, 1, 2, 3];
  const together = Promise.withResolvers<void>();
  let missing = steps.length;
  const jobs = steps.map((ownStep) =>
    mainJob(`${name}-${ownStep}`, async (step) => {
      if (step !== ownStep) return;
      missing -= 1;
      if (missing === 0) together.resolve();
      await together.promise;
    }),
  );
  await Promise.race([together.promise, Promise.all(jobs)]); // a job that fails on its way is the failure
  await new Promise(setImmediate);
  await running.kill9(name);
  for (const paymentId of await Promise.all(jobs)) await assertWhole(paymentId);
}

test.run();
