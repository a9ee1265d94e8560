// The main job on a stack that is killed under it: a caller who repeats each request until it is answered, and what
// must be true of the payment afterwards.
import assert from "node:assert/strict";
import type { StackShape } from "../../deploy/local/settings.ts";
import type { RunningStack } from "../../deploy/local/start.ts";
import { type Answer, apiClient, merchantApi } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { payInFrame } from "../harness/pay.ts";
import { type Receiver, startReceiver } from "../harness/receiver.ts";
import { startTestStack } from "../harness/stack.ts";

// A caller who takes 409, 502, 503 and a cut connection as "ask again" (docs/contract.md §2).
const retryLimitMs = 120_000;

/** A job with the hook before each step. */
interface Job {
  readonly name: string;
  readonly atStep: (step: number) => Promise<void>;
}

export class KillRig {
  readonly #running: RunningStack;
  readonly #receiver: Receiver;
  readonly #merchant: ReturnType<typeof merchantApi>;

  private constructor(running: RunningStack, receiver: Receiver) {
    this.#running = running;
    this.#receiver = receiver;
    this.#merchant = merchantApi(running.stack.gateway, running.stack.api_key);
  }

  static async start(shape: StackShape): Promise<KillRig> {
    // A crashed process holds keys, calls and circuits no longer than these, 90, 30 and 10 s as a rule. The pauses
    // between questions to the processor grow from the second one, so that several fit into the wait below.
    const running = await startTestStack({
      shape,
      env: {
        IDEMPOTENCY_LEASE_SECONDS: "3",
        RECONCILE_AFTER_SECONDS: "1",
        EVENT_ACK_WAIT_SECONDS: "2",
        CIRCUIT_OPEN_MAX_SECONDS: "1",
      },
    });
    const receiver = await startReceiver(running.stack.tls);
    const rig = new KillRig(running, receiver);
    const types = ["payment.succeeded", "payment.refunded"];
    const endpoint = { url: `${receiver.url}/hook`, event_types: types };
    (await rig.#merchant.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
    return rig;
  }

  async stop(): Promise<void> {
    await this.#receiver.close();
    await this.#running.stop();
  }

  /**
   * Four jobs wait before one step each; then all go on, and the victim is killed while their requests are under way.
   */
  async killAtEveryStep(name: string): Promise<void> {
    const steps = [0, 1, 2, 3];
    const together = Promise.withResolvers<void>();
    let missing = steps.length;
    const jobs = steps.map((ownStep) =>
      this.#mainJob({
        name: `${name}-${ownStep}`,
        atStep: async (step) => {
          if (step !== ownStep) return;
          missing -= 1;
          if (missing === 0) together.resolve();
          await together.promise;
        },
      }),
    );
    await Promise.race([together.promise, Promise.all(jobs)]); // a job that fails on its way is the failure
    await new Promise(setImmediate);
    await this.#running.kill9(name);
    for (const paymentId of await Promise.all(jobs)) await this.#assertRefundedOnce(paymentId);
  }

  /** Asks until there is an answer that does not invite another try. */
  #untilAnswered(what: string, ask: () => Promise<Answer>): Promise<Answer> {
    return eventually(
      what,
      async () => {
        const answer = await ask().catch(() => undefined);
        return answer && ![409, 429, 502, 503].includes(answer.status) ? answer : undefined;
      },
      { limitMs: retryLimitMs, everyMs: 100 },
    );
  }

  /** @returns the payment's id, once its session is completed */
  async #paid({ name, atStep }: Job): Promise<string> {
    await atStep(0);
    const key = { "idempotency-key": `c-${name}` };
    const create = () => this.#merchant.post("/v1/checkout-sessions", { amount: 1000, currency: "EUR" }, key);
    const session = (await this.#untilAnswered("the session", create)).expect(201);
    await atStep(1);
    const frame = session.text("render.frame_url");
    await eventually("the buyer to pay", async () => (await payInFrame(frame)).status === 200, {
      limitMs: retryLimitMs,
    });
    await atStep(2);
    const path = `/v1/checkout/${session.text("id")}/confirm?secret=${session.text("session_secret")}`;
    const confirmed = await eventually(
      "the session to complete",
      async () => {
        const answer = await apiClient(this.#running.stack.gateway).post(path);
        return answer.at("status") === "completed" ? answer : undefined;
      },
      { limitMs: retryLimitMs },
    );
    return confirmed.text("payment_id");
  }

  async #mainJob(job: Job): Promise<string> {
    const paymentId = await this.#paid(job);
    await job.atStep(3);
    const key = { "idempotency-key": `r-${job.name}` };
    const refund = () => this.#merchant.post(`/v1/payments/${paymentId}/refunds`, { amount: 300 }, key);
    (await this.#untilAnswered("the refund", refund)).expect(201);
    return paymentId;
  }

  async #assertRefundedOnce(paymentId: string): Promise<void> {
    const record = await this.#recordWith(paymentId, "refunds.0.status", "succeeded");
    assert.deepEqual([record.text("status"), record.number("refunded_amount")], ["partially_refunded", 300]);
    assert.equal(record.list("refunds").length, 1);
    await this.#received("payment.succeeded", paymentId, "succeeded");
    await this.#received("payment.refunded", paymentId, "partially_refunded");
  }

  #recordWith(paymentId: string, path: string, value: string): Promise<Answer> {
    return eventually(
      `${path} of the payment to be ${value}`,
      async () => {
        const answer = await this.#merchant.get(`/v1/payments/${paymentId}`);
        return answer.at(path) === value ? answer : undefined;
      },
      { limitMs: retryLimitMs },
    );
  }

  async #received(type: string, paymentId: string, status: string): Promise<void> {
    const body = JSON.stringify({ type, payment_id: paymentId, status });
    await this.#receiver.waitFor((request) => request.body.toString() === body, retryLimitMs);
  }
}
