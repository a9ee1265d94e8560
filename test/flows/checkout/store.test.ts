// Concurrency guarantees of the checkout tables, risk counts, and the sweeper during an outage.
import assert from "node:assert/strict";
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
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { sessionInsert } from "./session-insert.ts";

const test = suite("tables of checkout", { timeoutMs: 20_000 });
const owner = { merchantId: "mer_test", environment: Environment.SANDBOX };

const db = fixture(test, async () => await openDatabase((await freshDatabase("checkout")).serviceUrl));

async function dueSession(): Promise<string> {
  const wanted = sessionInsert();
  const { id } = wanted.session;
  await insertSessions(db, [wanted]);
  await db.rows("update sessions set next_check_at = now() where id = $1", [id]);
  return id;
}

test("a session that one sweeper claims is skipped by another without waiting", async () => {
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

test("risk counts the card with most attempts, within its merchant and environment", async () => {
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
  assert.equal(await count([""]), 0, "an unknown card is not counted");
  assert.equal(await count(["card_b"], 1), 2, "counting stops above the limit");
});

test("while payments is unavailable the sweeper tries a few sessions and then pauses", async () => {
  const due = 40;
  for (let i = 0; i < due; i++) await dueSession();
  await db.rows("update sessions set expires_at = created_at + interval '1 millisecond' where status = 'open'");
  const refusals: unknown[] = [];
  const log = Object.assign(createLog("test", "silent"), { warn: (fields: unknown) => refusals.push(fields) });
  const unavailable = connectPeer({ url: `http://127.0.0.1:${await freePort()}`, token: "unused" });
  // The sweeper uses nothing else of the context here.
  const context = { db, log, payments: unavailable.client(PaymentsService) } as unknown as CheckoutContext;
  try {
    await assert.rejects(expireSessions(context), isRefusal("SERVICE_UNAVAILABLE"));
  } finally {
    unavailable.close();
  }
  assert.ok(refusals.length > 0 && refusals.length < due, String(refusals.length));
});

test.run();
