// Every committed event reaches every subscribed endpoint at least once and with the same bytes, whatever is killed.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { eventually } from "../../harness/eventually.ts";
import { type ReceivedRequest, startReceiver } from "../../harness/receiver.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { type Replica, startReplicas } from "./replicas.ts";

const test = suite("webhook recovery", { timeoutMs: 200_000 });

const t = fixture(test, () => startReplicas());
const receiver = fixture(test, () => startReceiver(t.tls));

/** A merchant with active endpoints at these paths. */
async function register(replica: Replica, paths: string[]): Promise<{ merchantId: string; endpointIds: string[] }> {
  const merchantId = newId("merchant");
  const endpointIds: string[] = [];
  for (const path of paths) {
    const url = `${receiver.url}${path}`;
    const input = { merchantId, environment: 1 as const, url, eventTypes: ["payment.succeeded"] };
    endpointIds.push((await replica.webhooks.createEndpoint(input)).endpoint?.id ?? "");
  }
  return { merchantId, endpointIds };
}

const requests = (paymentId: string, path: string) =>
  receiver.received.filter((request) => request.path === path && request.body.includes(paymentId));

test("after a replica is killed during a request, another sends the same bytes", async () => {
  const first = await t.replica();
  const { merchantId, endpointIds } = await register(first, ["/unanswered"]);
  receiver.answer({ status: 0, drop: true, delayMs: 60_000 });
  const paymentId = await t.commit(merchantId);
  await receiver.waitFor((request) => request.body.includes(paymentId), 30_000);
  await first.kill9();
  receiver.answer({ status: 200 });
  const second = await t.replica();
  const [endpointId = ""] = endpointIds;
  await eventually(
    "the delivery to be recorded",
    async () => {
      const { deliveries } = await second.webhooks.listDeliveries({ merchantId, environment: 1, endpointId });
      return deliveries.length === 1 && deliveries[0]?.delivered;
    },
    { limitMs: 60_000, everyMs: 100 },
  );
  const sent = requests(paymentId, "/unanswered");
  assert(sent.length >= 2);
  assert.equal(new Set(sent.map((r) => `${r.headers["service-delivery"]} ${r.body.toString("hex")}`)).size, 1);
  await second.stop();
});

test("every committed event reaches each endpoint when replicas, NATS and PostgreSQL are killed under load", async () => {
  let [one, other] = await Promise.all([t.replica(), t.replica()]);
  const paths = ["/a", "/b"];
  const { merchantId } = await register(one, paths);
  receiver.answer({ status: 200, delayMs: 5 });
  // Commits events during the disturbance and a little longer.
  const disturbed = async (disturb: () => Promise<unknown>) => {
    const early: string[] = [];
    for (let i = 0; i < 10; i++) early.push(await t.commit(merchantId));
    await receiver.waitFor((request) => early.some((id) => request.body.includes(id)), 60_000);
    let isOver = false;
    const over = disturb().finally(() => (isOver = true));
    for (let i = 0; i < 10 || (!isOver && i < 100); i++) await t.commit(merchantId);
    await over;
  };
  await disturbed(async () => {
    await one.kill9();
    one = await t.replica();
  });
  await disturbed(() => t.restart("nats"));
  await disturbed(() => t.restart("postgres"));
  await disturbed(async () => {
    await other.stop();
    other = await t.replica();
  });
  await disturbed(() => Promise.all([one.kill9(), other.kill9(), t.restart("nats")]));
  const last = await t.replica();
  const committed = [...(await t.committed(merchantId))];
  assert(committed.length >= 100);
  await eventually(
    "every event to arrive at each endpoint",
    () => {
      const missing = paths.flatMap((path) => {
        const arrived = new Set(receiver.received.filter((r) => r.path === path).map((r) => paymentOf(r)));
        return committed.filter((id) => !arrived.has(id)).map((id) => `${path} ${id}`);
      });
      if (missing.length > 0)
        throw new Error(`${missing.length} of ${2 * committed.length} are missing, such as ${missing[0]}`);
      return true;
    },
    { limitMs: 90_000, everyMs: 200 },
  );
  const bytes = Map.groupBy(receiver.received, (request) => String(request.headers["service-delivery"]));
  for (const [delivery, sent] of bytes) {
    assert.equal(new Set(sent.map((request) => request.body.toString("hex"))).size, 1, delivery);
  }
  await last.stop();
});

const paymentOf = (request: ReceivedRequest) => /pay_[0-9a-z]{26}/.exec(request.body.toString("latin1"))?.[0] ?? "";

test.run();
