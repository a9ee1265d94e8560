// The simulator's tables enforce the money rules: they refuse what a broken rule would write.

import { pino } from "pino";
import * as assert from "uvu/assert";
import type { Intent } from "../../../services/simulator/rules/intent.ts";
import { returnDebit } from "../../../services/simulator/rules/mishap.ts";
import { payIntent } from "../../../services/simulator/rules/pay-intent.ts";
import { createRefund } from "../../../services/simulator/rules/refund.ts";
import { sweepEvents } from "../../../services/simulator/store/events.ts";
import { insertIntent, type KeyRow, updateIntent } from "../../../services/simulator/store/intent-writes.ts";
import { findIntent } from "../../../services/simulator/store/intents.ts";
import { brokenConstraint, type Db, migrateSchema, openPool } from "../../../services/simulator/store/pool.ts";
import { freshDatabase } from "../../harness/database.ts";
import { attemptWith, requireChange, unpaidIntent } from "../../harness/sample-intent.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("simulator-store");
let db: Db;
let count = 0;

test.before(async () => {
  db = openPool((await freshDatabase()).url, pino({ level: "silent" }));
  await Promise.all([migrateSchema(db), migrateSchema(db)]); // concurrently, as two processes do
});
test.after(() => db.end());

async function stored(): Promise<Intent> {
  const id = `pi_${++count}`;
  await insertIntent(db, { ...unpaidIntent(), id, receipt_token: id }, {});
  return read(id);
}

async function read(id: string): Promise<Intent> {
  const intent = await findIntent(db, id);
  if (!intent) throw new Error(`${id} is missing`);
  return intent;
}

const paid = (intent: Intent, attempt = `at_${intent.id}`) =>
  requireChange(payIntent(intent, attemptWith("4242424242424242", attempt))).intent;

async function storedAndPaid(): Promise<Intent> {
  const intent = await stored();
  assert.ok(await updateIntent(db, intent, paid(intent), {}));
  return read(intent.id);
}

const refunded = (intent: Intent, amount: number, id: string) =>
  requireChange(
    createRefund(intent, { id, amount, status: "succeeded", reason: null, reference: null, now: intent.created_at }),
  ).intent;

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => "accepted",
    (error: unknown) => brokenConstraint(error) ?? (error instanceof Error ? error.message : "?"),
  );

test("of two changes of one version exactly one is stored completely", async () => {
  const before = await stored();
  const event = { type: "intent.succeeded", body: "{}", created_at: before.created_at };
  const change = (name: string) =>
    updateIntent(db, before, paid(before, `at_${before.id}_${name}`), {
      events: [{ ...event, id: `evt_${before.id}_${name}` }],
    });
  const written = await Promise.all([change("a"), change("b")]);
  assert.is(written.filter(Boolean).length, 1);
  const { rows } = await db.query("select id from events where intent_id = $1", [before.id]);
  assert.is(rows.length, 1);
  assert.is((await read(before.id)).attempts.length, 1);
});

test("a key that exists stops the whole change", async () => {
  const before = await stored();
  const key: KeyRow = {
    account: "acct_1",
    key: "k",
    fingerprint: "f",
    status: 201,
    body: "{}",
    created_at: before.created_at,
  };
  assert.ok(await updateIntent(db, before, paid(before), { key }));
  const other = await stored();
  assert.is(await refusal(updateIntent(db, other, paid(other), { key })), "idempotency_keys_pkey");
  assert.is(
    await refusal(insertIntent(db, { ...unpaidIntent(), id: "pi_k", receipt_token: "k" }, { key })),
    "idempotency_keys_pkey",
  );
  assert.is((await read(other.id)).status, "requires_payment_method");
  assert.is(await findIntent(db, "pi_k"), undefined);
});

test("a second successful attempt is refused", async () => {
  const intent = await storedAndPaid();
  const [attempt] = intent.attempts;
  assert.ok(attempt);
  const twice = { ...intent, attempts: [attempt, { ...attempt, id: "at_second", seq: 2 }] };
  assert.is(await refusal(updateIntent(db, intent, twice, {})), "attempts_one_at_a_time");
});

test("refuses more refunds than the capture, and a sum that differs from the refunds", async () => {
  const intent = await storedAndPaid();
  const first = refunded(intent, 600, "rf_a");
  assert.ok(await updateIntent(db, intent, first, {}));
  const current = await read(intent.id);
  const [refund] = current.refunds;
  assert.ok(refund);
  const second = { ...refund, id: "rf_b" };
  const over = { ...current, refunds: [refund, second], refunded_amount: 1_200 };
  assert.match(await refusal(updateIntent(db, current, over, {})), /^intents_.*check/);
  assert.match(await refusal(updateIntent(db, current, { ...over, refunded_amount: 600 }, {})), "1200");
});

test("a refund without a capture is stored only for a returned debit", async () => {
  const intent = await storedAndPaid();
  assert.ok(await updateIntent(db, intent, refunded(intent, 600, "rf_returned"), {}));
  const current = await read(intent.id);
  const returned = requireChange(returnDebit(current, intent.created_at)).intent;
  const broken = updateIntent(db, current, { ...returned, returned_at: null }, {});
  assert.is(await refusal(broken), "intents_refunded_amount_check");
  assert.ok(await updateIntent(db, current, returned, {}));
  assert.equal(await read(intent.id), { ...returned, version: current.version + 1 });
});

test("an intent has a captured amount exactly when it succeeded", async () => {
  const intent = await stored();
  assert.match(await refusal(updateIntent(db, intent, { ...intent, captured_amount: 1_000 }, {})), /^intents_check/);
  assert.match(await refusal(updateIntent(db, intent, { ...intent, status: "succeeded" }, {})), /^intents_check/);
});

test("sent and abandoned events are deleted after 30 days, unsent ones never", async () => {
  const { id } = await stored();
  await db.query(
    `insert into events (id, account, intent_id, type, body, created_at, attempts, next_attempt_at, delivered_at)
     values ('ev_sent', 'acct', $1, 't', '{}', now() - interval '31 days', 1, null, now() - interval '31 days'),
       ('ev_given_up', 'acct', $1, 't', '{}', now() - interval '31 days', 9, null, null),
       ('ev_held', 'acct', $1, 't', '{}', now() - interval '31 days', 0, 'infinity', null),
       ('ev_young', 'acct', $1, 't', '{}', now() - interval '29 days', 1, null, now())`,
    [id],
  );
  assert.is(await sweepEvents(db), false);
  const { rows } = await db.query("select id from events where intent_id = $1 order by id", [id]);
  assert.equal(rows, [{ id: "ev_held" }, { id: "ev_young" }]);
});

test.run();
