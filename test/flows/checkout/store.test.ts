// What the tables of checkout promise to whoever works on them at the same time, how risk counts, and what the sweeper
// does in an outage.
import assert from "node:assert/strict";
import { Database } from "#platform/database/database.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { freePort } from "../../../deploy/local/free-port.ts";
import type { CheckoutContext } from "../../../services/checkout/context.ts";
import { expireSessions } from "../../../services/checkout/jobs/expire-sessions.ts";
import { insertSessions } from "../../../services/checkout/store/new-sessions.ts";
import { countOfCards, recordAttempts } from "../../../services/checkout/store/risk-attempts.ts";
import { claimDueSessions } from "../../../services/checkout/store/sessions.ts";
import { freshDatabase } from "../../harness/database.ts";
import { suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";

const test = suite("tables of checkout", { timeoutMs: 20_000 });
const owner = { merchantId: "mer_test", environment: Environment.SANDBOX };
let db: Database;

test.before(async () => {
  const { serviceUrl } = await freshDatabase("checkout");
  db = await Database.open({ url: serviceUrl, name: "test", log: createLog("test", "fatal") });
});
test.after(() => db.close());

async function dueSession(): Promise<string> {
  const id = newId("session");
  const session = {
    ...owner,
    id,
    amount: 1_000n,
    currency: "EUR",
    description: "",
    orderReference: "",
    customerEmail: "",
    metadata: {},
    connector: "simulator",
    surface: "embedded",
    captureMethod: "automatic",
    successUrl: "",
    cancelUrl: "",
    locale: "",
    lineItems: [],
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 3_600_000),
  };
  const secretHash = { keyId: "", hash: Buffer.alloc(32) };
  const nothing = { events: { ids: [], subjects: [], bodies: [] }, results: [] };
  await insertSessions(db, [{ session, secretHash, render: Buffer.of(1), ...nothing }]);
  await db.rows("update sessions set next_check_at = now() where id = $1", [id]);
  return id;
}

test("what a sweeper is about to take, another passes over without waiting", async () => {
  const id = await dueSession();
  await db.transaction(async (tx) => {
    assert.deepEqual(
      (await claimDueSessions(tx, 10)).map((session) => session.id),
      [id],
    );
    const other = await db.transaction(async (second) => {
      await second.rows("set local statement_timeout = 2000");
      return await claimDueSessions(second, 10);
    });
    assert.deepEqual(other, []);
  });
});

test("of an address's cards the one with most attempts counts, within its merchant and environment", async () => {
  const attempt = (card: string, change: Partial<typeof owner> = {}) => ({
    ...owner,
    ...change,
    sessionId: newId("session"),
    fact: "declined" as const,
    occurrence: "1",
    email: "",
    addressHash: undefined,
    card,
  });
  const few = [attempt("card_a"), attempt("card_b"), attempt("card_b"), attempt("card_b"), attempt("")];
  await recordAttempts(db, [...few, attempt("card_a", { merchantId: "mer_other" }), attempt("")]);
  const count = (cards: readonly string[], limit = 10) =>
    countOfCards(db, owner, cards, { windowSeconds: 3_600, limit });
  assert.equal(await count(["card_a", "card_b", "card_c"]), 3);
  assert.equal(await count(["card_a"]), 1);
  assert.equal(await count(["card_c"]), 0);
  assert.equal(await count([""]), 0, "a card that is not known is nobody's");
  assert.equal(await count(["card_b"], 1), 2, "counting stops where the rule has seen enough");
});

test("while payments is away the sweeper asks for a few sessions, and pauses instead of walking through all", async () => {
  const due = 40;
  for (let i = 0; i < due; i++) await dueSession();
  await db.rows("update sessions set expires_at = created_at + interval '1 millisecond' where status = 'open'");
  const refusals: unknown[] = [];
  const log = Object.assign(createLog("test", "silent"), { warn: (fields: unknown) => refusals.push(fields) });
  const away = connectPeer({ url: `http://127.0.0.1:${await freePort()}`, token: "nobody hears it" });
  // The rest of the context is for flows that the sweeper does not come to.
  const context = { db, log, payments: away.client(PaymentsService) } as unknown as CheckoutContext;
  try {
    await assert.rejects(expireSessions(context), refused("SERVICE_UNAVAILABLE"));
  } finally {
    away.close();
  }
  assert.ok(refusals.length > 0 && refusals.length < due, String(refusals.length));
});

test.run();
