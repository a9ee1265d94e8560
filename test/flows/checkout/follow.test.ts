// Consuming payments' events on a real PostgreSQL: repeated, disordered and foreign events change nothing.
import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Outbox } from "#platform/events/outbox.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { type Id, newId } from "#platform/values/id.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { applyFact } from "../../../services/checkout/flows/apply-fact.ts";
import { consumeBatch } from "../../../services/checkout/jobs/follow-payments.ts";
import { paymentIdOf } from "../../../services/checkout/rules/session.ts";
import { insertSessions } from "../../../services/checkout/store/new-sessions.ts";
import { claimDueSessions, findSession, requestExpiry } from "../../../services/checkout/store/sessions.ts";
import { failureCodes } from "../../../services/payments/rules/failure-code.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { sessionInsert } from "./session-insert.ts";

const test = suite("following payments");
const outbox = new Outbox({ namespace: "test", source: "checkout" });
const log = createLog("test", "error");

const db = fixture(test, async () => await openDatabase((await freshDatabase("checkout")).serviceUrl));

async function newSession(): Promise<Id<"session">> {
  const wanted = sessionInsert();
  await insertSessions(db, [wanted]);
  return wanted.session.id;
}

const epoch = Date.now();

function event(
  sessionId: string,
  status: string,
  change: { outcome?: string; atMs?: number; failed?: string; version?: string; captured?: string } = {},
): Event {
  return create(EventSchema, {
    id: newId("event"),
    type: `payment.${status}`,
    source: "payments",
    merchantId: "mer_test",
    environment: Environment.SANDBOX,
    objectId: sessionId.replace("cs_", "pay_"),
    status,
    occurredAt: timestampFromDate(new Date(epoch + (change.atMs ?? 0))),
    attributes: {
      session_id: sessionId,
      outcome: change.outcome ?? status,
      receipt_url: status === "succeeded" ? "https://processor.example/receipt" : "",
      failed_attempts: change.failed ?? "0",
      ...(change.version !== undefined && { version: change.version }),
      ...(change.captured !== undefined && { captured_amount: change.captured }),
    },
  });
}

const consumeAll = (...events: Event[]) => consumeBatch({ db, outbox, log }, events);

async function stateOf(id: Id<"session">): Promise<[string, string]> {
  const session = await findSession(db, id);
  assert(session);
  return [session.state.status, session.state.paymentStatus];
}

async function announced(id: string): Promise<string[]> {
  const rows = await db.rows<{ subject: string }>(
    "select subject from outbox where encode(body, 'escape') like $1 order by seq",
    [`%${id}%`],
  );
  return rows.map((row) => row.subject.split(".").slice(-1).join());
}

test("one batch with all events of a payment moves the session step by step, and its repeat changes nothing", async () => {
  const id = await newSession();
  const life = [
    event(id, "failed", { atMs: 1, failed: "1" }),
    event(id, "processing", { atMs: 2, failed: "1" }),
    event(id, "succeeded", { atMs: 3, failed: "1" }),
    event(id, "partially_refunded", { outcome: "succeeded", atMs: 4, failed: "1" }),
  ];
  await consumeAll(...life);
  assert.deepEqual(await stateOf(id), ["completed", "partially_refunded"]);
  assert.deepEqual(await announced(id), ["processing", "completed"]);
  const session = await findSession(db, id);
  assert.equal(session?.state.receiptUrl, "https://processor.example/receipt");
  await consumeAll(...life);
  await Promise.all([consumeAll(...life), consumeAll(...life)]);
  assert.deepEqual(await stateOf(id), ["completed", "partially_refunded"]);
  assert.deepEqual(await announced(id), ["processing", "completed"]);
});

test("a version without changes is stored, so that an older event is ignored", async () => {
  const id = await newSession();
  await consumeAll(event(id, "failed", { failed: "1", version: "2" }));
  await consumeAll(event(id, "failed", { failed: "1", version: "5" }));
  await consumeAll(event(id, "processing", { failed: "1", version: "4" }));
  assert.deepEqual(await stateOf(id), ["open", "failed"]);
  assert.deepEqual(await announced(id), []);
  assert.equal((await findSession(db, id))?.state.paymentVersion, 5n);
});

test("a session has the captured amount of its payment's latest version", async () => {
  const id = await newSession();
  const captured = async () => (await findSession(db, id))?.state.capturedAmount;
  await consumeAll(event(id, "succeeded", { version: "3", captured: "0" }));
  assert.equal(await captured(), 0n, "authorized");
  await consumeAll(event(id, "captured", { outcome: "succeeded", version: "4", captured: "100" }));
  await consumeAll(event(id, "succeeded", { version: "3", captured: "0" }));
  assert.equal(await captured(), 100n, "captured in part");
  // As a replica of the previous release writes it.
  await db.rows("update sessions set heard_version = 5 where id = $1", [id]);
  assert.equal(await captured(), undefined);
});

test("a failed attempt counts as a decline for risk only when its reason is the card", async () => {
  const counted: string[] = [];
  for (const code of Object.keys(failureCodes)) {
    const id = await newSession();
    const failed = event(id, "failed", { failed: "1", version: "2" });
    const attributes = { ...failed.attributes, failure_code: code, card_fingerprint: `fp_${code}` };
    await consumeAll({ ...failed, attributes });
    const rows = await db.rows("select from risk_attempts where session_id = $1 and fact = 'declined'", [id]);
    if (rows.length > 0) counted.push(code);
  }
  const ofCards = ["card_declined", "expired_card", "incorrect_cvc", "incorrect_number", "blocked", "lost_or_stolen"];
  assert.deepEqual(counted, ofCards);
});

test("the payment status in the event counts, not the event's type", async () => {
  const id = await newSession();
  const refund = event(id, "refunded", { outcome: "succeeded", version: "4" });
  await consumeAll({ ...refund, attributes: { ...refund.attributes, payment_status: "disputed" } });
  assert.deepEqual(await stateOf(id), ["completed", "disputed"]);
});

test("an event that replicas consume concurrently counts once", async () => {
  const id = await newSession();
  const paid = event(id, "succeeded");
  await Promise.all(Array.from({ length: 8 }, () => consumeAll(paid)));
  assert.deepEqual(await announced(id), ["completed"]);
});

test("a repeated event is recognized by its id", async () => {
  const id = await newSession();
  const requiresAction = event(id, "requires_action", { failed: "1" });
  await consumeAll(requiresAction, event(id, "failed", { failed: "1" }));
  await consumeAll(requiresAction);
  assert.deepEqual(await stateOf(id), ["open", "failed"]);
});

test("two batches with the same sessions in opposite order do not deadlock", async () => {
  const ids = await Promise.all(Array.from({ length: 3 }, () => newSession()));
  const forth = ids.map((id) => event(id, "processing", { atMs: 1 }));
  const back = ids.map((id) => event(id, "succeeded", { atMs: 2 })).reverse();
  const running: Promise<void>[] = [];
  await db.transaction(async (tx) => {
    await tx.rows("select from sessions where id = $1 for update", [ids[0]]);
    for (const batch of [forth, back]) {
      running.push(consumeAll(...batch));
      await eventually("the batch to wait for the lock", async () => (await waitingForLocks()) === running.length);
    }
  });
  await Promise.all(running);
  for (const id of ids) assert.deepEqual(await stateOf(id), ["completed", "succeeded"]);
});

async function waitingForLocks(): Promise<number> {
  const [row] = await db.rows<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row?.n ?? 0;
}

test("an answer with a newer version wins over events stored meanwhile, an older one changes nothing", async () => {
  const id = await newSession();
  const stored = await findSession(db, id);
  assert(stored);
  await consumeAll(event(id, "processing", { version: "2" }));
  const answer = {
    outcome: "open",
    paymentStatus: "requires_action",
    receiptUrl: "",
    capturedAmount: undefined,
    failedAttempts: 0,
    at: "now",
  } as const;
  const newer = await applyFact({ db, outbox }, stored, { ...answer, version: 3n });
  assert.deepEqual([newer.state.status, newer.state.paymentStatus], ["open", "requires_action"]);
  await consumeAll(event(id, "processing", { version: "4" }));
  const older = await applyFact({ db, outbox }, newer, { ...answer, paymentStatus: "failed", version: 3n });
  assert.equal(older.state.status, "processing");
});

test("events without a session, of unknown sessions, and malformed ones are skipped", async () => {
  const id = await newSession();
  const stranger = newId("session");
  await consumeAll(
    event("", "succeeded"),
    event(stranger, "succeeded"),
    event(id, "exploded"),
    event(id, "succeeded", { failed: "many" }),
    event(id, "succeeded", { version: "newest" }),
    event(`${id}'; drop table sessions`, "succeeded"),
  );
  assert.deepEqual(await stateOf(id), ["open", ""]);
  assert.deepEqual(await announced(id), []);
});

/** Minutes until the session's next check, rounded up. */
async function minutesToNextCheck(id: Id<"session">): Promise<number | undefined> {
  const [row] = await db.rows<{ minutes: number }>(
    "select ceil(extract(epoch from next_check_at - now()) / 60)::int as minutes from sessions where id = $1",
    [id],
  );
  return row?.minutes;
}

test("the last declined attempt makes the session due immediately", async () => {
  const id = await newSession();
  await consumeAll(event(id, "failed", { failed: "10" }));
  assert.deepEqual([await minutesToNextCheck(id), await stateOf(id)], [0, ["open", "failed"]]);
  assert.equal(paymentIdOf(id).slice(4), id.slice(3));
});

test("the next check is in ten minutes during an attempt, and at the session's end otherwise", async () => {
  for (const status of ["processing", "requires_action"]) {
    const id = await newSession();
    assert.equal(await minutesToNextCheck(id), 60);
    await consumeAll(event(id, status, { version: "2" }));
    assert.equal(await minutesToNextCheck(id), 10, status);
    await consumeAll(event(id, "failed", { failed: "1", version: "3" }));
    assert.equal(await minutesToNextCheck(id), 60, status);
  }
});

test("a reopened session is due immediately when its expiry was requested or is past", async () => {
  const [expiring, overdue] = [await newSession(), await newSession()];
  await consumeAll(event(expiring, "processing", { version: "2" }), event(overdue, "processing", { version: "2" }));
  await requestExpiry(db, expiring, outbox.toRows([]));
  assert.equal(await minutesToNextCheck(expiring), 1);
  await db.rows("update sessions set expires_at = created_at + interval '1 microsecond' where id = $1", [overdue]);
  for (const id of [expiring, overdue]) {
    await consumeAll(event(id, "failed", { failed: "1", version: "3" }));
    assert.deepEqual([await minutesToNextCheck(id), await stateOf(id)], [0, ["open", "failed"]]);
  }
});

test("requesting the expiry of an ended session changes nothing", async () => {
  const id = await newSession();
  await consumeAll(event(id, "succeeded", { version: "2" }));
  await requestExpiry(db, id, outbox.toRows([]));
  assert.deepEqual(await stateOf(id), ["completed", "succeeded"]);
});

test("a session that could not be ended is checked after 1, 2, 4, 8 minutes, then every 10", async () => {
  const id = await newSession();
  await db.rows("update sessions set expires_at = created_at + interval '1 microsecond' where id = $1", [id]);
  const pauses: (number | undefined)[] = [];
  for (let round = 0; round < 7; round++) {
    await db.rows("update sessions set next_check_at = now() where id = $1", [id]);
    const due = await claimDueSessions(db, 1_000);
    assert(due.some((session) => session.id === id));
    pauses.push(await minutesToNextCheck(id));
  }
  assert.deepEqual(pauses, [1, 2, 4, 8, 10, 10, 10]);
});

test.run();
