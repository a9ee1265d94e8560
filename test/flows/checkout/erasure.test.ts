// Erasures of buyers: resumed by a job, repeated after a restore, and never undone by a later report or writer. All
// services are real.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { connectPeer } from "#platform/rpc/client.ts";
import { PrivacyService } from "#proto/checkout/v1/privacy_pb.ts";
import { ReplayService } from "#proto/events/v1/replay_pb.ts";
import { inDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { type CreatedSession, startCheckoutServices } from "./services.ts";

const test = suite("erasures", { timeoutMs: 90_000 });
const services = fixture(test, () => startCheckoutServices());

const peerOf = (url: string) => connectPeer({ url, token: services.money.settings.RPC_TOKEN });
const owner = () => ({ merchantId: services.money.merchantId, environment: services.money.environment });

async function erase(customerEmail: string) {
  const peer = peerOf(services.url);
  const { erasure } = await peer.client(PrivacyService).createErasure({ ...owner(), customerEmail });
  peer.close();
  return erasure ?? assert.fail("no erasure");
}

async function paidSession(customerEmail: string): Promise<CreatedSession> {
  const session = await services.create({ customerEmail, description: "A lemon tree" });
  await session.pay();
  await session.confirm();
  return session;
}

/** E-mail and description of session and payment. */
async function texts({ id, paymentId }: CreatedSession): Promise<string[]> {
  const read = "select customer_email as email, description from";
  const [session] = await services.db.rows<{ email: string; description: string }>(`${read} sessions where id = $1`, [
    id,
  ]);
  const [payment] = await inDatabase<{ email: string; description: string }>(
    services.money.paymentsDatabaseUrl,
    `${read} payments where id = '${paymentId}'`,
  );
  return [session, payment].flatMap((row) => [row?.email ?? "", row?.description ?? ""]);
}

const gone = ["", "[erased]", "", "[erased]"];

test("an erasure leaves a payment whose order may still be sent, and a job finishes it later", async () => {
  const { paymentsDatabaseUrl } = services.money;
  const session = await paidSession("carl@example.com");
  const ofPayment = `where payment_id = '${session.paymentId}' and kind = 'create_intent'`;
  await inDatabase(paymentsDatabaseUrl, `update operations set sealed_order = 'x' ${ofPayment}`);
  const { id, status } = await erase("Carl@example.com");
  assert.equal(status, "running");
  assert.equal((await texts(session))[0], "carl@example.com");
  await inDatabase(paymentsDatabaseUrl, `update operations set sealed_order = null ${ofPayment}`);
  await services.db.rows("update erasures set next_try_at = now() where id = $1", [id]);
  const stored = await eventually(
    "the erasure is finished",
    async () => {
      const [row] = await services.db.rows<Record<string, unknown>>(
        "select payments, sessions, customer_email from erasures where id = $1 and finished_at is not null",
        [id],
      );
      return row;
    },
    { limitMs: 30_000 },
  );
  assert.deepEqual(stored, { payments: 1, sessions: 1, customer_email: "" });
  assert.deepEqual(await texts(session), gone);
});

test("events that are published again erase what a restore brought back in checkout and payments", async () => {
  const { paymentsDatabaseUrl, urls } = services.money;
  const session = await paidSession("dora@example.com");
  assert.equal((await erase("dora@example.com")).status, "finished");
  // As a backup would leave them.
  const restore = (table: string, id: string) =>
    `alter table ${table} disable trigger ${table}_stay_erased; update ${table} set erased_at = null,
       customer_email = 'dora@example.com', description = 'A lemon tree' where id = '${id}';
     alter table ${table} enable trigger ${table}_stay_erased`;
  await inDatabase(paymentsDatabaseUrl, restore("payments", session.paymentId));
  await inDatabase(services.ownerUrl, restore("sessions", session.id));
  assert.equal((await texts(session))[2], "dora@example.com");
  const peer = peerOf(urls.payments);
  const since = timestampFromDate(new Date(Date.now() - 600_000));
  await peer.client(ReplayService).replayEvents({ since, operator: "test" });
  peer.close();
  await eventually("both are erased", async () => (await texts(session)).join() === gone.join());
});

test("a refund, a buyer's e-mail and a slower writer do not bring erased data back", async () => {
  const { payments, paymentsDatabaseUrl } = services.money;
  const session = await paidSession("emil@example.com");
  await inDatabase(
    paymentsDatabaseUrl,
    `insert into processor_notices (connector, environment, account, id, kind, ref, reference, happened_at, details) values
       ('adyen', 1, 'Shop', '1', 'payment', 'P1', '${session.paymentId}', now(), '{"alias": "A1", "cardSummary": "1111"}')`,
  );
  await erase("emil@example.com");
  const notices = await inDatabase(paymentsDatabaseUrl, "select details from processor_notices where id = '1'");
  assert.deepEqual(notices, [{ details: { cardSummary: "1111" } }]);
  await payments.refundPayment({ ...owner(), paymentId: session.paymentId, amount: 100n });
  await inDatabase(
    paymentsDatabaseUrl,
    `update payments set customer_email = 'emil@example.com', card_fingerprint = 'fp' where id = '${session.paymentId}'`,
  );
  await services.db.rows("update sessions set metadata = $2 where id = $1", [session.id, '{"name": "Emil"}']);
  assert.deepEqual(await texts(session), gone);
  const [row] = await services.db.rows<{ metadata: object }>("select metadata from sessions where id = $1", [
    session.id,
  ]);
  assert.deepEqual(row?.metadata, {});
});

test.run();
