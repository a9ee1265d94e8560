// Sessions of a suspended or closed merchant: they take no new money, and paid ones complete.
import assert from "node:assert/strict";
import { connectPeer } from "#platform/rpc/client.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { cards } from "../../harness/pay.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { type CreatedSession, startCheckoutServices } from "../checkout/services.ts";
import { isRefusal } from "../service-config.ts";

const test = suite("sessions of a suspended merchant", { timeoutMs: 30_000 });
// The job that ends unpaid intents runs every five seconds.
const sweepWait = { limitMs: 20_000 };

const services = fixture(test, () => startCheckoutServices());
const peer = fixture(test, () =>
  connectPeer({ url: services.money.urls.merchant, token: services.money.settings.RPC_TOKEN }),
);
test.beforeEach(() => become("active"));

async function become(status: string): Promise<void> {
  await peer.client(MerchantService).updateMerchantState({ merchantId: services.money.merchantId, status });
}

const statusOf = async ({ id }: CreatedSession) => (await services.get(id)).status;

/** The result of the buyer's confirm, once payments knows the merchant's change. */
async function confirmed(session: CreatedSession): Promise<string> {
  return await eventually("the merchant's change to be known", async () => {
    const status = await session.confirm().then(
      (answer) => answer.status,
      (error) => (isRefusal("SESSION_EXPIRED")(error) ? "refused" : assert.fail(error)),
    );
    return status === "open" ? undefined : status;
  });
}

for (const status of ["suspended", "closed"]) {
  test(`a confirm of an unpaid session is refused and cancels the intent when its merchant is ${status}`, async () => {
    const session = await services.create();
    await become(status);
    assert.equal(await confirmed(session), "refused");
    assert.equal(await statusOf(session), "canceled");
    assert.equal(await session.pay(), "canceled", "an open form takes no money");
  });
}

test("a buyer who paid before the suspension gets a success on every confirm", async () => {
  const session = await services.create();
  assert.equal(await session.pay(), "succeeded");
  await become("suspended");
  for (let i = 0; i < 3; i++) assert.equal((await session.confirm()).status, "completed");
  const { payment } = await services.money.payments.verifyIntent({ paymentId: session.paymentId });
  assert.equal(payment?.status, "succeeded");
});

test("a paid session completes without the buyer's return, and unpaid ones are canceled", async () => {
  const [paid, unpaid, declined] = [await services.create(), await services.create(), await services.create()];
  await paid.pay();
  await declined.pay(cards.declined);
  await become("suspended");
  for (const [session, status] of [
    [paid, "completed"],
    [unpaid, "canceled"],
    [declined, "canceled"],
  ] as const) {
    await eventually(`a session to be ${status}`, async () => (await statusOf(session)) === status, sweepWait);
  }
});

test("a processing payment is waited for and completes", async () => {
  const session = await services.create();
  await session.pay(cards.asynchronous);
  await become("suspended");
  await eventually("the processor to settle it", async () => (await session.confirm()).status === "completed");
});

test("a buyer who pays during the suspension gets a success exactly when the processor took the money", async () => {
  const sessions = await Promise.all(Array.from({ length: 12 }, () => services.create()));
  const suspended = become("suspended");
  const outcomes = await Promise.all(
    sessions.map(async (session, index) => {
      if (index % 2 === 0) await suspended;
      const [form] = await Promise.all([session.pay(), session.confirm().catch(() => undefined)]);
      return [form, await confirmed(session)];
    }),
  );
  for (const [form, session] of outcomes) assert.equal(session, form === "succeeded" ? "completed" : "refused", form);
});

test.run();
