// `tollbooth payments|sessions|refunds show`: what the person on call reads about one object, out of all services of a
// running stack.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { connectPeer } from "#platform/rpc/client.ts";
import { isId, newId } from "#platform/values/id.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import { inDatabase } from "../harness/database.ts";
import { eventually } from "../harness/eventually.ts";
import { cards, payInFrame } from "../harness/pay.ts";
import { startReceiver } from "../harness/receiver.ts";
import { fixture } from "../harness/suite.ts";
import { asBuyer, contractSuite } from "./caller.ts";

const { test, running, merchant, api } = contractSuite("tollbooth show", { timeoutMs: 120_000 });
const email = "grace.hopper@example.com";
const pathSecret = "T04B4DK3Y";
const metadataValue = "a private order number";
const receiver = fixture(test, () => startReceiver(running.tls));

interface Line {
  readonly at: string;
  readonly part: string;
  readonly id: string;
  readonly what: string;
}

interface CommandResult {
  readonly code: number;
  readonly text: string;
  readonly lines: readonly Line[];
  readonly remark: string;
}

function operator(words: readonly string[], change: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
  const { checkout, payments, merchant, webhook } = running.rpc;
  const env = {
    ...process.env,
    RPC_TOKEN_FILE: running.rpc_files.tokens.operator,
    CHECKOUT_URL: checkout,
    PAYMENTS_URL: payments,
    MERCHANT_URL: merchant,
    WEBHOOK_URL: webhook,
    ...change,
  };
  const script = join(import.meta.dirname, "../../deploy/cli/main.ts");
  const asJson = words.length > 2 ? ["--json"] : [];
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [script, ...words, ...asJson],
      { env, timeout: 60_000 },
      (_, text, remark) => {
        const lines = text.startsWith("[") ? JSON.parse(text) : [];
        resolve({ code: child.exitCode ?? -1, text, lines, remark });
      },
    );
  });
}

/** A declined and a successful payment with a partial refund, whose webhook the merchant's server first rejects. */
async function story() {
  receiver.answer({ status: 500 });
  const endpoint = { url: `${receiver.url}/hooks/${pathSecret}?key=${pathSecret}`, event_types: ["payment.succeeded"] };
  const endpointId = (await api.call("createWebhookEndpoint", 201, { body: endpoint })).text("id");
  const body = {
    amount: 1_000,
    currency: "EUR",
    customer_email: email,
    metadata: { order: metadataValue },
  };
  const session = await api.call("createCheckoutSession", 201, { body });
  await payInFrame(session.text("render.frame_url"), cards.declined);
  await payInFrame(session.text("render.frame_url"));
  const confirmed = await api.call("confirmCheckout", 200, asBuyer(session));
  const paymentId = confirmed.text("payment_id");
  await api.call("createRefund", 201, { path: { id: paymentId }, body: { amount: 400 } });
  const refunds = await api.call("listPaymentRefunds", 200, { path: { id: paymentId } });
  const [{ id: refundId = "" } = {}] = refunds.list("data").map(Object);
  return { endpointId, sessionId: session.text("id"), secret: session.text("session_secret"), paymentId, refundId };
}

test("a payment's whole history is shown in time order, with the next steps, by any of its ids", async () => {
  const { endpointId, sessionId, secret, paymentId, refundId } = await story();
  const hasAll = (shown: CommandResult) =>
    shown.lines.some(({ what }) => /attempt: answer 500/.test(what)) &&
    shown.lines.some(({ what }) => /^refund\.requested by ak_/.test(what));
  const shown = await eventually(
    "attempt and audit entry in the story",
    async () => {
      const now = await operator(["payments", "show", paymentId]);
      assert.equal(now.code, 0, now.remark);
      return hasAll(now) && now;
    },
    { limitMs: 60_000 },
  );
  const of = (part: string) => shown.lines.filter((line) => line.part === part);
  const assertLine = (part: string, what: RegExp, id?: string) =>
    assert.ok(
      of(part).some((line) => what.test(line.what) && (id === undefined || line.id === id)),
      `${part} ${what}: ${JSON.stringify(of(part))}`,
    );
  assertLine("payment", /^created: 1000 EUR by simulator, account mco_\w+, intent \S+$/, paymentId);
  assertLine("payment", /^captured: 1000 EUR, fee \d+$/, paymentId);
  assertLine("attempt", /^failed, card_declined/);
  assertLine("attempt", /^succeeded/);
  assertLine("session", /^created for the \w+ surface, buyer g…@example\.com; now completed$/, sessionId);
  assertLine("operation", new RegExp(`^create_intent for ${paymentId}, key op_\\w+:1: done`));
  assertLine("operation", new RegExp(`^create_refund for ${refundId}, key op_\\w+:1: `));
  assertLine("journal", /: 1000 EUR from \w+ to \w+$/);
  assertLine("refund", /^400 EUR, now /, String(refundId));
  assertLine("delivery", new RegExp(`^payment\\.succeeded to ${endpointId}: pending, attempts \\d+$`));
  assertLine("delivery", /^auto attempt: answer 500/);
  assertLine("audit", /^refund\.requested by ak_\w+, request req_/, String(refundId));
  assertLine("next", new RegExp(`^payment\\.succeeded is sent to ${endpointId} again$`));
  const past = shown.lines.filter(({ part }) => part !== "next").map(({ at }) => at);
  assert.deepEqual(past, [...past].sort());
  assert.ok(past.length < shown.lines.length);
  assert.equal(shown.lines.at(-1)?.part, "next");
  for (const line of shown.lines) assert.ok(line.at !== "" && line.id !== "", JSON.stringify(line));
  for (const hidden of [email, metadataValue, secret]) assert.ok(!shown.text.includes(hidden), hidden);

  for (const [noun, id] of [
    ["sessions", sessionId],
    ["refunds", String(refundId)],
  ] as const) {
    const same = await operator([noun, "show", id]);
    assert.equal(same.code, 0, same.remark);
    assert.ok(same.lines.some((line) => line.part === "payment" && line.id === paymentId));
  }
});

test("a delivery's whole history is shown by its id: event, endpoint, attempts and the next one, without secrets", async () => {
  const { paymentId } = await story();
  const { id } = await eventually("a delivery with an attempt", async () => {
    const { lines } = await operator(["payments", "show", paymentId]);
    return lines.find(({ part, what }) => part === "delivery" && /^auto attempt: answer 500/.test(what));
  });
  const shown = await operator(["deliveries", "show", id]);
  assert.equal(shown.code, 0, shown.remark);
  const of = (part: string) => shown.lines.find((line) => line.part === part);
  assert.equal(of("endpoint")?.what, `${new URL(receiver.url).origin}, active, of ${merchant.id}, sandbox`);
  assert.equal(of("event")?.what, `payment.succeeded about ${paymentId}`);
  assert.ok(
    shown.lines.some(({ what }) => /^auto attempt: answer 500, \S+, \d+ ms$/.test(what)),
    shown.text,
  );
  assert.ok(shown.lines.some(({ what }) => /^payment\.succeeded to whk_\w+: pending, attempts \d+$/.test(what)));
  assert.equal(shown.lines.at(-1)?.part, "next");
  const eventId = of("event")?.id ?? "";
  for (const hidden of [pathSecret, email, metadataValue]) assert.ok(!(shown.text + shown.remark).includes(hidden));

  const event = await operator(["events", "show", eventId]);
  assert.equal(event.code, 0, event.remark);
  const assertLine = (part: string, what: RegExp) =>
    assert.ok(
      event.lines.some((line) => line.part === part && what.test(line.what)),
      `${part} ${what}: ${event.text}`,
    );
  assertLine("event", new RegExp(`^payment\\.succeeded of ${paymentId}, then \\w+, by \\S+`));
  assertLine("outbox", new RegExp(`^committed by payments for ${merchant.id}$`));
  assertLine("outbox", /^published into the stream of payments at place \d+$/);
  assertLine("inbox", /^consumed by webhook-fan-out of webhook$/);
  assertLine("inbox", /^consumed by checkout-payments of checkout$/);
  assertLine("delivery", /^payment\.succeeded to whk_\w+: pending/);
  assertLine("delivery", /^auto attempt: answer 500/);
  assertLine("next", /^payment\.succeeded is sent to whk_\w+ again$/);
  assert.ok(event.lines.some((line) => line.id === id));
  for (const hidden of [pathSecret, email, metadataValue]) assert.ok(!(event.text + event.remark).includes(hidden));
});

test("an act that an operator or a key made is shown with its audit entry", async () => {
  const { refundId } = await story();
  const entry = await eventually("the audit entry", async () => {
    const peer = connectPeer({ url: running.rpc.merchant, token: running.rpc_token });
    try {
      const wanted = { merchantId: merchant.id, objectId: String(refundId) };
      const { entries } = await peer.client(AuditService).listAuditEntries(wanted);
      return entries.find(({ action }) => action === "refund.requested");
    } finally {
      peer.close();
    }
  });
  const shown = await operator(["events", "show", entry.id]);
  assert.equal(shown.code, 0, shown.remark);
  assert.ok(shown.lines.some(({ part, what }) => part === "audit" && what === "refund.requested in the audit log"));
  assert.ok(
    shown.lines.some(({ part, what }) => part === "event" && /by ak_\w+, request req_\w+$/.test(what)),
    shown.text,
  );
});

test("an unknown delivery or event is not found, and a malformed id is a usage error", async () => {
  for (const [noun, id] of [
    ["deliveries", newId("delivery")],
    ["events", newId("event")],
  ] as const) {
    const shown = await operator([noun, "show", id]);
    assert.deepEqual([shown.code, shown.lines.length], [1, 0]);
    assert.match(shown.remark, new RegExp(`${id}.*(never existed|never committed).* \\d+ days`));
    assert.equal((await operator([noun, "show", "12"])).code, 2);
  }
});

test("a payment whose unpaid session was deleted is shown without it", async () => {
  const session = await api.call("createCheckoutSession", 201, { body: { amount: 1_000, currency: "EUR" } });
  await payInFrame(session.text("render.frame_url"), cards.declined);
  await api.call("confirmCheckout", 200, asBuyer(session));
  const sessionId = session.text("id");
  await inDatabase(`${running.database}_checkout`, `delete from sessions where id = '${sessionId}'`);
  const shown = await operator(["sessions", "show", sessionId]);
  assert.equal(shown.code, 0, shown.remark);
  assert.equal(
    shown.lines.some(({ part }) => part === "session"),
    false,
  );
});

test("the rest of the history is shown while a service does not answer, with its name", async () => {
  const { paymentId } = await story();
  const refusing = new URL(running.rpc.webhook);
  refusing.port = "9";
  const shown = await operator(["payments", "show", paymentId], { WEBHOOK_URL: refusing.origin });
  assert.equal(shown.code, 1);
  assert.ok(shown.lines.some(({ part, id }) => part === "payment" && id === paymentId));
  assert.ok(shown.lines.every(({ part }) => part !== "delivery"));
  assert.match(shown.remark, /incomplete, unavailable services: webhook \(SERVICE_UNAVAILABLE\)/);
});

test("an unknown id is not found, and an id of another kind names the right command", async () => {
  const unknown = newId("payment");
  assert.ok(isId("payment", unknown));
  const result = await operator(["payments", "show", unknown]);
  assert.deepEqual([result.code, result.lines.length], [1, 0]);
  assert.equal(result.remark.trim(), `${unknown} not found, neither in live nor in sandbox`);
  const refund = newId("refund");
  const other = await operator(["payments", "show", refund]);
  assert.equal(other.code, 2);
  assert.match(other.remark, new RegExp(`tollbooth refunds show ${refund}`));
  const operation = newId("operation");
  assert.match((await operator(["payments", "show", operation])).remark, /tollbooth operations show op_/);
  assert.equal((await operator(["payments", "show", "12"])).code, 2);
});

test.run();
