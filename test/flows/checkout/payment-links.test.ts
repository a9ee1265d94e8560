// Payment links: never more sessions than may be paid, whatever buyers do at once, and a use that is not paid is free
// again. All services and the processor are real.
import assert from "node:assert/strict";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "#platform/values/id.ts";
import type { CreatePaymentLinkRequestSchema, PaymentLink } from "#proto/checkout/v1/links_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { cards, payInFrame } from "../../harness/pay.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { freshKey, startCheckoutServices } from "./services.ts";

const test = suite("payment links", { timeoutMs: 60_000 });
const origin = "https://pay.example.com";
const services = fixture(test, () => startCheckoutServices(origin));

type LinkOrder = Omit<MessageInitShape<typeof CreatePaymentLinkRequestSchema>, "$typeName" | "idempotency">;
const owner = () => ({ merchantId: services.money.merchantId, environment: services.money.environment });

async function newLink(change: LinkOrder = {}, key = freshKey()): Promise<PaymentLink> {
  const idempotency = { key, fingerprint: new Uint8Array(32) };
  const order = { ...owner(), currency: "EUR", amountMin: 500n, amountMax: 500n, idempotency, ...change };
  const { link } = await services.links.createPaymentLink(order);
  assert(link);
  return link;
}

const open = (linkId: string, amount?: bigint) =>
  services.links.openPaymentLink({ linkId, ...(amount !== undefined && { amount }) });
const read = async ({ id }: PaymentLink) => {
  const { link } = await services.links.getPaymentLink({ ...owner(), linkId: id });
  assert(link);
  return link;
};

/** A buyer at the hosted page of an opened link. */
function buyerAt(checkoutUrl: string) {
  const [, sessionId = ""] = /\/c\/(cs_\w+)#/.exec(checkoutUrl) ?? [];
  const named = { sessionId, sessionSecret: new URL(checkoutUrl).hash.slice(1) };
  const resolve = () => services.checkout.resolveSession(named);
  return {
    sessionId,
    resolve,
    confirm: async () => (await services.checkout.confirmSession(named)).status,
    pay: async (card: string = cards.succeeds) => {
      await payInFrame((await resolve()).render?.frameUrl ?? "", card);
      return (await services.checkout.confirmSession(named)).status;
    },
  };
}

test("of a dozen buyers at once exactly as many may pay as there are to sell, and the rest after those who leave", async () => {
  const link = await newLink({ usesMax: 3, description: "Lemon tree", captureMethod: "manual" });
  const answers = await Promise.all(Array.from({ length: 12 }, () => open(link.id)));
  const may = answers.filter(({ checkoutUrl }) => checkoutUrl !== "");
  assert.deepEqual([may.length, new Set(may.map(({ checkoutUrl }) => checkoutUrl)).size], [3, 3]);
  assert.ok(answers.every(({ state, checkoutUrl }) => state === (checkoutUrl === "" ? "busy" : "active")));
  const [first, second, leaver] = may.map(({ checkoutUrl }) => buyerAt(checkoutUrl));
  assert(first && second && leaver);
  assert.deepEqual([await first.pay(), await second.pay(cards.declined)], ["completed", "open"]);
  const { session } = await first.resolve();
  assert.deepEqual(
    [session?.paymentLinkId, session?.description, session?.captureMethod, session?.amount, session?.cancelUrl],
    [link.id, "Lemon tree", "manual", 500n, ""],
  );
  assert.equal((await second.resolve()).session?.cancelUrl, `${origin}/l/${link.id}`, "the way back until it is paid");
  assert.equal((await open(link.id)).state, "busy", "a declined card keeps its use");
  await services.checkout.expireSession({ ...owner(), sessionId: leaver.sessionId });
  const next = await Promise.all(Array.from({ length: 6 }, () => open(link.id)));
  const [freed, ...others] = next.filter(({ checkoutUrl }) => checkoutUrl !== "");
  assert.ok(freed && others.length === 0, "the use of the buyer who left");
  assert.deepEqual([await second.pay(), await buyerAt(freed.checkoutUrl).pay()], ["completed", "completed"]);
  const { state, paid, pending } = await read(link);
  assert.deepEqual([state, paid, pending], ["sold_out", 3, 0]);
  assert.deepEqual(await open(link.id).then((answer) => [answer.state, answer.checkoutUrl]), ["sold_out", ""]);
  const { sessions } = await services.checkout.listSessions({ ...owner(), limit: 50, q: link.id });
  const ended = sessions.filter(({ status }) => status !== "completed");
  assert.deepEqual([sessions.length, ended.length], [4, 1], "the list of sessions finds those of a link");
});

test("every opening of a link for one payment leads to the same session, until it ends unpaid or is paid", async () => {
  const order = { usesMax: 1, customerEmail: "ada@example.com", orderReference: "A-7" };
  const link = await newLink(order);
  const openings = await Promise.all(Array.from({ length: 8 }, () => open(link.id)));
  const [url = "", ...others] = new Set(openings.map(({ checkoutUrl }) => checkoutUrl).filter(Boolean));
  assert.deepEqual(others, []);
  assert.equal((await open(link.id)).checkoutUrl, url);
  const first = buyerAt(url);
  const { session } = await first.resolve();
  assert.deepEqual([session?.customerEmail, session?.orderReference], ["ada@example.com", "A-7"]);
  await services.makeOverdue(first.sessionId);
  await eventually("the session's end", async () => (await read(link)).pending === 0);
  const second = buyerAt((await open(link.id)).checkoutUrl);
  assert.notEqual(second.sessionId, first.sessionId);
  assert.equal(await second.pay(), "completed");
  assert.equal((await open(link.id)).state, "sold_out");
  const payment = await services.money.payments.getPayment({
    ...owner(),
    paymentId: second.sessionId.replace("cs_", "pay_"),
  });
  assert.deepEqual([payment.payment?.capturedAmount, payment.payment?.orderReference], [500n, "A-7"]);
});

test("a buyer pays any amount within the bounds and no other, and a fixed amount is never the buyer's", async () => {
  const chosen = await newLink({ amountMin: 500n, amountMax: 2_000n });
  for (const amount of [undefined, 0n, -500n, 499n, 2_001n, 9_000_000_000n])
    await assert.rejects(open(chosen.id, amount), isRefusal("INVALID_BODY", "amount"), String(amount));
  assert.equal((await read(chosen)).pending, 0);
  for (const amount of [500n, 2_000n])
    assert.equal((await buyerAt((await open(chosen.id, amount)).checkoutUrl).resolve()).session?.amount, amount);
  const fixed = await newLink();
  assert.equal((await buyerAt((await open(fixed.id, 1n)).checkoutUrl).resolve()).session?.amount, 500n);
});

test("a closed or ended link makes no session, and a session that it made may still be paid", async () => {
  const link = await newLink({ usesMax: 5 });
  const buyer = buyerAt((await open(link.id)).checkoutUrl);
  const closing = Array.from({ length: 4 }, () => services.links.closePaymentLink({ ...owner(), linkId: link.id }));
  assert.deepEqual(new Set((await Promise.all(closing)).map((answer) => answer.link?.state)), new Set(["closed"]));
  assert.deepEqual((await open(link.id)).state, "closed");
  assert.equal(await buyer.pay(), "completed");
  const brief = await newLink({ expiresAt: timestampFromDate(new Date(Date.now() + 60_000)) });
  await services.db.rows(
    "update payment_links set created_at = created_at - interval '1 hour', expires_at = now() where id = $1",
    [brief.id],
  );
  assert.deepEqual([(await open(brief.id)).state, (await read(brief)).pending], ["expired", 0]);
});

test("a key makes one link, and another merchant or environment neither reads, lists nor closes it", async () => {
  const key = freshKey();
  const description = `Concert ${key}`;
  const made = await Promise.allSettled(Array.from({ length: 6 }, () => newLink({ description }, key)));
  assert.ok(made.some(({ status }) => status === "fulfilled"));
  const link = await newLink({ description }, key);
  const list = (of: object) => services.links.listPaymentLinks({ ...owner(), limit: 2, ...of });
  assert.deepEqual(
    (await list({ q: description.toUpperCase() })).links.map(({ id }) => id),
    [link.id],
  );
  const later = await newLink();
  const page = await list({ limit: 1 });
  assert.deepEqual([page.links.map(({ id }) => id), page.hasMore], [[later.id], true]);
  assert.deepEqual(
    (await list({ limit: 1, afterId: later.id })).links.map(({ id }) => id),
    [link.id],
  );
  assert.deepEqual((await list({ status: "closed", q: link.id })).links, []);
  for (const other of [
    { ...owner(), merchantId: newId("merchant") },
    { ...owner(), environment: Environment.LIVE },
  ]) {
    await assert.rejects(services.links.getPaymentLink({ ...other, linkId: link.id }), isRefusal("NOT_FOUND"));
    await assert.rejects(services.links.closePaymentLink({ ...other, linkId: link.id }), isRefusal("NOT_FOUND"));
    assert.deepEqual((await services.links.listPaymentLinks({ ...other, limit: 9 })).links, []);
  }
  const { link: shown } = await services.links.describePaymentLink({ linkId: link.id });
  assert.deepEqual([shown?.id, shown?.customerEmail, shown?.createdBy], [link.id, "", ""]);
  await assert.rejects(open("pl_01jd3v9q6k8m2n4p6r8t0v2x4z"), isRefusal("NOT_FOUND"));
});

test.run();
