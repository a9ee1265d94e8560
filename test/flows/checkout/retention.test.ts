// Sessions that were never paid are deleted after their days. All services are real.
import assert from "node:assert/strict";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { deleteUnpaidSessions } from "../../../services/checkout/store/retention.ts";
import { inDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { startCheckoutServices } from "./services.ts";

const test = suite("retention of sessions", { timeoutMs: 60_000 });
const services = fixture(test, () => startCheckoutServices());

const days = 400;
const owner = () => ({ merchantId: services.money.merchantId, environment: services.money.environment });
const total = async (status = "") => (await services.checkout.listSessions({ ...owner(), limit: 1, status })).total;
const isMissing = (id: string) =>
  services.get(id).then(
    () => false,
    (error) => error instanceof Failure && error.reason === "NOT_FOUND",
  );

/** Moves a session's beginning and end into the past. @returns its id of that time */
async function age(id: string, createdDays: number, endedDays: number): Promise<string> {
  const oldId = newId("session", Date.now() - createdDays * 86_400_000);
  await services.db.rows(
    `update sessions set id = $2, created_at = now() - make_interval(hours => $3), heard_at = null,
       expires_at = now() - make_interval(hours => $4) where id = $1`,
    [id, oldId, createdDays * 24, endedDays * 24],
  );
  return oldId;
}

/** A run of the service's own job may have the turn. */
const runUntilDeleted = (id: string) =>
  eventually("the session to be deleted", async () => {
    await deleteUnpaidSessions(services.db, days);
    return await isMissing(id);
  });

test("an unpaid session is deleted when its days are over, with its list's total; a paid, an open and a later one stay", async () => {
  const [paid, open, unpaid, slow, behind] = await Promise.all([1, 2, 3, 4, 5].map(() => services.create()));
  assert(paid && open && unpaid && slow && behind);
  await paid.pay();
  await paid.confirm();
  for (const { id: sessionId } of [unpaid, slow, behind]) {
    await services.checkout.expireSession({ ...owner(), sessionId });
  }
  assert.deepEqual([await total(), await total("expired")], [5n, 3n]);
  const behindId = await age(behind.id, 401, 400.5);
  const slowId = await age(slow.id, 402, 399);
  const unpaidId = await age(unpaid.id, 403, 401);
  const [openId, paidId] = [await age(open.id, 404, -1), await age(paid.id, 405, 404)];

  await runUntilDeleted(unpaidId);
  assert.deepEqual([await total(), await total("expired")], [4n, 2n]);
  assert.equal((await services.get(paidId)).status, "completed");
  assert.equal((await services.get(openId)).status, "open");
  // It ended after 399 days, and those after it wait with it.
  assert.equal((await services.get(slowId)).status, "expired");
  assert.equal((await services.get(behindId)).status, "expired");

  await services.db.rows("update sessions set expires_at = now() - interval '401 days' where id = $1", [slowId]);
  await runUntilDeleted(behindId);
  assert.equal(await isMissing(slowId), true);
  assert.deepEqual([await total(), await total("expired")], [2n, 0n]);
});

test("money that arrives for a deleted session is recorded by payments, and checkout acknowledges its event", async () => {
  const { id, paymentId, pay } = await services.create();
  await services.db.rows("delete from sessions where id = $1", [id]);
  await pay();
  await services.money.payments.verifyIntent({ paymentId });
  const { payment } = await services.money.payments.getPayment({ ...owner(), paymentId });
  assert.equal(payment?.status, "succeeded");
  const announced = await inDatabase<{ id: string }>(
    services.money.paymentsDatabaseUrl,
    `select event_id as id from outbox where subject like '%succeeded' and encode(body, 'escape') like '%${paymentId}%'`,
  );
  assert.equal(announced.length, 1);
  await eventually("checkout to acknowledge the event", async () => {
    const consumed = "select from inbox where consumer = 'checkout-payments' and event_id = $1";
    return (await services.db.rows(consumed, [announced[0]?.id])).length === 1;
  });
  assert.equal(await isMissing(id), true);
});

test.run();
