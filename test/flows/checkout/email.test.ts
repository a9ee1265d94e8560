// The e-mail that a buyer enters on the page: stored with session and payment, never replacing the merchant's, and
// fixed once the payment has started. All services are real.
import assert from "node:assert/strict";
import { cards } from "../../harness/pay.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { type CreatedSession, startCheckoutServices } from "./services.ts";

const test = suite("the buyer's e-mail", { timeoutMs: 60_000 });

const services = fixture(test, () => startCheckoutServices());

const give = (session: CreatedSession, customerEmail: string, sessionSecret = session.secret) =>
  services.checkout.giveEmail({ sessionId: session.id, sessionSecret, customerEmail });
const resolve = (session: CreatedSession) =>
  services.checkout.resolveSession({ sessionId: session.id, sessionSecret: session.secret });

/** E-mails of session and payment, as the merchant reads them. */
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

test("the last e-mail entered on the page is stored with session and payment", async () => {
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

test("the merchant's e-mail is never replaced, and the page does not ask", async () => {
  const session = await services.create({ customerEmail: "ada@example.com" });
  assert.equal((await resolve(session)).takesEmail, false);
  assert.equal((await give(session, "other@example.com")).accepted, false);
  await session.pay();
  await session.confirm();
  assert.deepEqual(await emails(session), ["ada@example.com", "ada@example.com"]);
});

test("a wrong secret or an invalid address is refused and changes nothing", async () => {
  const session = await services.create();
  await assert.rejects(give(session, "ada@example.com", "cs_secret_wrong"), isRefusal("NOT_FOUND"));
  for (const wrong of ["ada", "ada@localhost", "a b@example.com", "ada@example.com\r\nBcc: eve@example.com"]) {
    await assert.rejects(give(session, wrong), isRefusal("INVALID_BODY", "customer_email"), wrong);
  }
  assert.equal((await emails(session))[0], "");
});

test("the e-mail is fixed once the payment has started, and an ended session takes none", async () => {
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
  await assert.rejects(give(ended, "late@example.com"), isRefusal("SESSION_EXPIRED"));
});

test("of concurrent e-mails session and payment store the same one", async () => {
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
