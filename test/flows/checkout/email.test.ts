// The e-mail that a buyer gives on the page: the session's and its payment's, never in the place of the merchant's, and
// no longer changed once the payment is under way. With merchant, payments and the simulator, all real.
import assert from "node:assert/strict";
import { cards } from "../../harness/pay.ts";
import { suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";
import { type CheckoutServices, type CreatedSession, startCheckoutServices } from "./services.ts";

const test = suite("the buyer's e-mail", { timeoutMs: 60_000 });
let services: CheckoutServices;

test.before(async () => {
  services = await startCheckoutServices();
});
test.after(() => services?.stop());

const give = (session: CreatedSession, customerEmail: string, sessionSecret = session.secret) =>
  services.checkout.giveEmail({ sessionId: session.id, sessionSecret, customerEmail });
const resolve = (session: CreatedSession) =>
  services.checkout.resolveSession({ sessionId: session.id, sessionSecret: session.secret });

/** As the merchant reads both. */
async function emails(session: CreatedSession): Promise<readonly [string | undefined, string | undefined]> {
  const { merchantId, environment } = services.money;
  const of = { merchantId, environment };
  const stored = await services.checkout.getSession({ ...of, sessionId: session.id });
  const [row] = await services.money.payments.getPayment({ ...of, paymentId: session.paymentId }).then(
    ({ payment }) => [payment?.customerEmail],
    () => [undefined],
  );
  return [stored.session?.customerEmail, row];
}

test("an e-mail given on the page is the session's and the payment's, and the last one given counts", async () => {
  const session = await services.create();
  assert.equal((await resolve(session)).takesEmail, true);
  const first = await give(session, "first@example.com");
  assert.deepEqual([first.accepted, first.status, first.sessionId], [true, "open", session.id]);
  assert.equal((await give(session, "last@example.com")).accepted, true);
  assert.equal((await resolve(session)).takesEmail, true);
  await session.pay();
  await session.confirm();
  assert.deepEqual(await emails(session), ["last@example.com", "last@example.com"]);
});

test("the merchant's own e-mail is never replaced, and the page is not told to ask", async () => {
  const session = await services.create({ customerEmail: "ada@example.com" });
  assert.equal((await resolve(session)).takesEmail, false);
  assert.equal((await give(session, "other@example.com")).accepted, false);
  await session.pay();
  await session.confirm();
  assert.deepEqual(await emails(session), ["ada@example.com", "ada@example.com"]);
});

test("a wrong secret is not found, a wrong address is refused, and neither changes anything", async () => {
  const session = await services.create();
  await assert.rejects(give(session, "ada@example.com", "cs_secret_wrong"), refused("NOT_FOUND"));
  for (const wrong of ["ada", "ada@localhost", "a b@example.com", "ada@example.com\r\nBcc: eve@example.com"]) {
    await assert.rejects(give(session, wrong), refused("INVALID_BODY", "customer_email"), wrong);
  }
  assert.equal((await emails(session))[0], "");
});

test("once the payment is under way or made it stays; an ended session takes none", async () => {
  const [waiting, paid, ended] = [await services.create(), await services.create(), await services.create()];
  await give(waiting, "early@example.com");
  await waiting.pay(cards.asynchronous);
  await waiting.confirm();
  assert.equal((await give(waiting, "late@example.com")).accepted, false);
  await paid.pay();
  await paid.confirm();
  assert.equal((await give(paid, "late@example.com")).accepted, false);
  assert.equal((await emails(waiting))[0], "early@example.com");
  assert.deepEqual(await emails(paid), ["", ""]);
  const { merchantId, environment } = services.money;
  await services.checkout.expireSession({ merchantId, environment, sessionId: ended.id });
  await assert.rejects(give(ended, "late@example.com"), refused("SESSION_EXPIRED"));
});

test("of many given at the same moment session and payment keep the same one", async () => {
  const session = await services.create();
  const many = Array.from({ length: 12 }, (_, i) => give(session, `buyer${i}@example.com`));
  assert.ok((await Promise.all(many)).every(({ accepted }) => accepted));
  await session.pay();
  await session.confirm();
  const [ofSession, ofPayment] = await emails(session);
  assert.match(ofSession ?? "", /^buyer\d+@example\.com$/);
  assert.equal(ofPayment, ofSession);
});

test.run();
