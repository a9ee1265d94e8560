// Deliveries with objects while their source is away, behind, or has another merchant's object.
import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate, timestampNow } from "@bufbuild/protobuf/wkt";
import { newId } from "#platform/values/id.ts";
import { PaymentSchema } from "#proto/payments/v1/payments_pb.ts";
import { measureQueue } from "../../../services/webhook/jobs/measure-queue.ts";
import { eventually } from "../../harness/eventually.ts";
import { startReceiver } from "../../harness/receiver.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { startWebhookTest } from "./service.ts";

const test = suite("webhook objects", { timeoutMs: 60_000 });
const t = fixture(test, () => startWebhookTest());
const receiver = fixture(test, () => startReceiver(t.tls));
test.beforeEach(() => {
  receiver.answer({ status: 200 });
  t.source.isAway = false;
});

async function register(merchantId: string, payload: string): Promise<string> {
  const path = `/${newId("endpoint")}`;
  const owner = { merchantId, environment: 1 as const, eventTypes: ["payment.succeeded"] };
  await t.webhooks.createEndpoint({ ...owner, url: `${receiver.url}${path}`, payload });
  return path;
}

const receivedAt = (path: string) => receiver.received.filter((request) => request.path === path);
const parsedAt = (path: string) => receivedAt(path).map(({ body }) => JSON.parse(body.toString()));

/** A payment that can be read. */
function storePayment(merchantId: string, version: number, id: string = newId("payment")): string {
  const owner = { id, merchantId, environment: 1 as const, createdAt: timestampNow() };
  const money = { amount: 1_050n, currency: "EUR", status: "succeeded" };
  t.source.payments.set(id, create(PaymentSchema, { ...owner, ...money, version: BigInt(version) }));
  return id;
}

const announce = (merchantId: string, paymentId: string, version: number) =>
  t.announce({ merchantId, paymentId, facts: { attributes: { version: String(version) } } });

/** Lets the service read again now. */
const readAgain = (change = "") => t.db.rows(`update awaited_objects set due_at = now()${change}`);

const awaited = async (merchantId: string) =>
  (await t.db.rows("select from awaited_objects where merchant_id = $1", [merchantId])).length;

test("while payments cannot be read only deliveries with objects wait, and each is sent once afterwards", async () => {
  const [mixed, other] = [newId("merchant"), newId("merchant")];
  const objects = await register(mixed, "object");
  const references = [await register(mixed, "reference"), await register(other, "")];
  t.source.isAway = true;
  const paymentIds = [1, 2, 3].map(() => storePayment(mixed, 4));
  for (const id of paymentIds) await announce(mixed, id, 3);
  await announce(other, newId("payment"), 1);
  await eventually("the others", () => references.map((path) => receivedAt(path).length).join() === "3,1");
  assert.equal(await awaited(mixed), 3);
  let lag = 0;
  const dueLag = {
    set: ({ endpoints }: { endpoints: string }, value: number) => void (lag += endpoints === "answering" ? value : 0),
  };
  await measureQueue({ db: t.db, metrics: { dueLag, queueRows: { set() {} } } as never, isSilent: () => false });
  assert.ok(lag > 0, "operators see the lateness");
  assert.equal(receivedAt(objects).length, 0);
  t.source.isAway = false;
  await readAgain();
  await eventually("the objects", () => receivedAt(objects).length === 3);
  assert.deepEqual(
    parsedAt(objects)
      .map(({ data }) => data.id)
      .sort(),
    paymentIds.sort(),
  );
  for (const { sequence, data } of parsedAt(objects)) assert.deepEqual([sequence, data.amount], [4, 1_050]);
  assert.equal(await awaited(mixed), 0);
});

test("a state older than its event is read again, and after an hour the delivery has none", async () => {
  const merchantId = newId("merchant");
  const path = await register(merchantId, "object");
  const behind = storePayment(merchantId, 3);
  const foreign = storePayment(newId("merchant"), 9);
  for (const id of [behind, foreign]) await announce(merchantId, id, 5);
  await eventually("both to wait", async () => (await awaited(merchantId)) === 2);
  storePayment(merchantId, 6, behind);
  await readAgain();
  await eventually("the newer state", () => receivedAt(path).length === 1);
  assert.deepEqual([parsedAt(path)[0].sequence, parsedAt(path)[0].data.id], [6, behind]);
  await readAgain(", created_at = now() - interval '61 minutes'");
  await eventually("the delivery without the other merchant's payment", () => receivedAt(path).length === 2);
  assert.deepEqual([parsedAt(path)[1].sequence, parsedAt(path)[1].data], [5, null]);
});

test("a retry sends the bytes of the first attempt, although the payment has changed", async () => {
  const merchantId = newId("merchant");
  const path = await register(merchantId, "object");
  const id = storePayment(merchantId, 1);
  receiver.answer((request) => {
    if (request.path !== path || receivedAt(path).length > 1) return { status: 200 };
    storePayment(merchantId, 2, id);
    return { status: 500 };
  });
  await announce(merchantId, id, 1);
  await eventually("the retry", () => receivedAt(path).length === 2);
  const [first, second] = receivedAt(path);
  assert.deepEqual(first?.body, second?.body);
  assert.equal(parsedAt(path)[0].sequence, 1);
});

test("a replay whose objects wait queues each event once, however often it is repeated", async () => {
  const merchantId = newId("merchant");
  const other = await register(merchantId, "");
  const paymentIds = [1, 2, 3].map(() => storePayment(merchantId, 2));
  for (const id of paymentIds) await announce(merchantId, id, 2);
  await eventually("the events", () => receivedAt(other).length === 3);
  const path = await register(merchantId, "object");
  const { endpoints } = await t.webhooks.listEndpoints({ merchantId, environment: 1 });
  const endpointId = endpoints.find(({ url }) => url.endsWith(path))?.id ?? "";
  t.source.isAway = true;
  const replay = async () => {
    const owner = { merchantId, environment: 1 as const };
    const since = timestampFromDate(new Date(Date.now() - 3_600_000));
    const { run } = await t.webhooks.replayEvents({ ...owner, endpointId, since });
    const runId = run?.id ?? "";
    await eventually(
      "the run",
      async () => (await t.webhooks.getRetryRun({ ...owner, runId })).run?.status === "finished",
    );
  };
  await replay();
  assert.equal(await awaited(merchantId), 3);
  await replay();
  t.source.isAway = false;
  await readAgain();
  await eventually("the objects", () => receivedAt(path).length === 3);
  await replay();
  const list = await t.webhooks.listDeliveries({ merchantId, environment: 1, endpointId });
  assert.equal(list.deliveries.length, 3);
  assert.equal(await awaited(merchantId), 0);
  assert.deepEqual(
    parsedAt(path)
      .map(({ data }) => data.id)
      .sort(),
    paymentIds.sort(),
  );
});

test.run();
