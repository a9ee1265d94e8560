// Sessions of a merchant that is suspended or closed: no new money, and none lost of what was paid.
import assert from "node:assert/strict";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { cards } from "../../harness/pay.ts";
import { suite } from "../../harness/suite.ts";
import { type CheckoutServices, type CreatedSession, startCheckoutServices } from "../checkout/services.ts";
import { refused } from "../service-config.ts";

const test = suite("sessions of a suspended merchant", { timeoutMs: 30_000 });
// The job that ends unpaid intents looks every five seconds.
const swept = { limitMs: 20_000 };
let services: CheckoutServices;
let peer: Peer;

test.before(async () => {
  services = await startCheckoutServices();
  peer = connectPeer({ url: services.money.urls.merchant, token: services.money.settings.RPC_TOKEN });
});
test.after(async () => {
  peer?.close();
  await services?.stop();
});
test.beforeEach(() => become("active"));

async function become(status: string): Promise<void> {
  await peer.client(MerchantService).updateMerchantState({ merchantId: services.money.merchantId, status });
}

const statusOf = async ({ id }: CreatedSession) => (await services.get(id)).status;

/** What a buyer is told; payments hears of a merchant's change a moment after it. */
async function confirmed(session: CreatedSession): Promise<string> {
  return await eventually("the merchant's change to be known", async () => {
    const status = await session.confirm().then(
      (answer) => answer.status,
      (error) => (refused("SESSION_EXPIRED")(error) ? "refused" : assert.fail(error)),
    );
    return status === "open" ? undefined : status;
  });
}

for (const status of ["suspended", "closed"]) {
  test(`a confirm of what nobody paid ends at the processor once its merchant is ${status}`, async () => {
    const session = await services.create();
    await become(status);
    assert.equal(await confirmed(session), "refused");
    assert.equal(await statusOf(session), "canceled");
    assert.equal(await session.pay(), "canceled", "a form that is still open takes nothing");
  });
}

test("a buyer who paid before his merchant was suspended gets his success, however often he asks", async () => {
  const session = await services.create();
  assert.equal(await session.pay(), "succeeded");
  await become("suspended");
  for (let i = 0; i < 3; i++) assert.equal((await session.confirm()).status, "completed");
  const { payment } = await services.money.payments.verifyIntent({ paymentId: session.paymentId });
  assert.equal(payment?.status, "succeeded");
});

test("a buyer who paid and never came back gets it too, and what nobody paid ends by itself", async () => {
  const [paid, unpaid, declined] = [await services.create(), await services.create(), await services.create()];
  await paid.pay();
  await declined.pay(cards.declined);
  await become("suspended");
  for (const [session, status] of [
    [paid, "completed"],
    [unpaid, "canceled"],
    [declined, "canceled"],
  ] as const) {
    await eventually(`a session to be ${status}`, async () => (await statusOf(session)) === status, swept);
  }
});

test("a payment that is on its way is waited for, and completes", async () => {
  const session = await services.create();
  await session.pay(cards.asynchronous);
  await become("suspended");
  await eventually("the processor to settle it", async () => (await session.confirm()).status === "completed");
});

test("who pays while the merchant is being suspended gets his success exactly when the processor took his money", async () => {
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

test("a merchant who is active again has new sessions paid", async () => {
  await become("suspended");
  await assert.rejects(services.create(), refused("FORBIDDEN"));
  await become("active");
  const session = await services.create();
  await session.pay();
  assert.equal(await confirmed(session), "completed");
});

test.run();
