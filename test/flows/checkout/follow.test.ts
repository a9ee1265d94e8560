// Taking in payments' events, against a real PostgreSQL: repeats, disorder and strangers change nothing.
import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Database } from "#platform/database/database.ts";
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
import { freshDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("following payments");
const outbox = new Outbox({ namespace: "test", source: "checkout" });
const log = createLog("test", "error");
let db: Database;

test.before(async () => {
  db = await Database.open({ url: (await freshDatabase("checkout")).serviceUrl, name: "test", log });
});
test.after(() => db.close());

async function newSession(): Promise<Id<"session">> {
  const id = newId("session");
  const session = {
    id,
    merchantId: "mer_test",
    environment: Environment.SANDBOX,
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
  await insertSessions(db, [{ session, secretHash, render: Buffer.of(1), events: outbox.toRows([]), results: [] }]);
  return id;
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

const takeInAll = (...events: Event[]) => consumeBatch({ db, outbox, log }, events);

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

test("a whole life in one batch moves the session step by step, and the batch again changes nothing", async () => {
  const id = await newSession();
  const life = [
    event(id, "failed", { atMs: 1, failed: "1" }),
    event(id, "processing", { atMs: 2, failed: "1" }),
    event(id, "succeeded", { atMs: 3, failed: "1" }),
    event(id, "partially_refunded", { outcome: "succeeded", atMs: 4, failed: "1" }),
  ];
  await takeInAll(...life);
  assert.deepEqual(await stateOf(id), ["completed", "partially_refunded"]);
  assert.deepEqual(await announced(id), ["processing", "completed"]);
  const session = await findSession(db, id);
  assert.equal(session?.state.receiptUrl, "https://processor.example/receipt");
  await takeInAll(...life);
  await Promise.all([takeInAll(...life), takeInAll(...life)]);
  assert.deepEqual(await stateOf(id), ["completed", "partially_refunded"]);
  assert.deepEqual(await announced(id), ["processing", "completed"]);
});

test("events out of order end in the same state", async () => {
  const id = await newSession();
  await takeInAll(event(id, "refunded", { outcome: "succeeded", atMs: 9, failed: "1" }));
  await takeInAll(event(id, "succeeded", { atMs: 5, failed: "1" }));
  await takeInAll(event(id, "failed", { atMs: 1, failed: "1" }), event(id, "canceled", { atMs: 12 }));
  assert.deepEqual(await stateOf(id), ["completed", "refunded"]);
  assert.deepEqual(await announced(id), ["completed"]);
});

test("with payments' clock two minutes behind during a refund the session's payment_status follows all the same", async () => {
  const id = await newSession();
  await takeInAll(event(id, "succeeded", { version: "3" }));
  await takeInAll(event(id, "refunded", { outcome: "succeeded", atMs: -120_000, version: "4" }));
  assert.deepEqual(await stateOf(id), ["completed", "refunded"]);
  await takeInAll(event(id, "succeeded", { atMs: 120_000, version: "3" }));
  assert.deepEqual(await stateOf(id), ["completed", "refunded"]);
});

test("a version that says nothing new is remembered, so that an older one that comes late is known as such", async () => {
  const id = await newSession();
  await takeInAll(event(id, "failed", { failed: "1", version: "2" }));
  await takeInAll(event(id, "failed", { failed: "1", version: "5" }));
  await takeInAll(event(id, "processing", { failed: "1", version: "4" }));
  assert.deepEqual(await stateOf(id), ["open", "failed"]);
  assert.deepEqual(await announced(id), []);
  assert.equal((await findSession(db, id))?.state.paymentVersion, 5n);
});

test("a session says what its payment had captured in the version that it heard of last, and nothing of an older one", async () => {
  const id = await newSession();
  const captured = async () => (await findSession(db, id))?.state.capturedAmount;
  await takeInAll(event(id, "succeeded", { version: "3", captured: "0" }));
  assert.equal(await captured(), 0n, "authorized");
  await takeInAll(event(id, "captured", { outcome: "succeeded", version: "4", captured: "100" }));
  await takeInAll(event(id, "succeeded", { version: "3", captured: "0" }));
  assert.equal(await captured(), 100n, "captured in part");
  // As a replica of the release before writes it.
  await db.rows("update sessions set heard_version = 5 where id = $1", [id]);
  assert.equal(await captured(), undefined);
});

test("a failed attempt counts as a decline for risk exactly where its reason is the card's", async () => {
  const counted: string[] = [];
  for (const code of Object.keys(failureCodes)) {
    const id = await newSession();
    const failed = event(id, "failed", { failed: "1", version: "2" });
    const attributes = { ...failed.attributes, failure_code: code, card_fingerprint: `fp_${code}` };
    await takeInAll({ ...failed, attributes });
    const rows = await db.rows("select from risk_attempts where session_id = $1 and fact = 'declined'", [id]);
    if (rows.length > 0) counted.push(code);
  }
  const ofCards = ["card_declined", "expired_card", "incorrect_cvc", "incorrect_number", "blocked", "lost_or_stolen"];
  assert.deepEqual(counted, ofCards);
});

test("events of a release that told no version go by their time, beside those that tell one", async () => {
  const id = await newSession();
  await takeInAll(
    event(id, "succeeded", { atMs: 1, version: "3" }),
    event(id, "disputed", { outcome: "succeeded", atMs: 2 }),
  );
  assert.deepEqual(await stateOf(id), ["completed", "disputed"]);
  await takeInAll(event(id, "succeeded", { atMs: 1 }), event(id, "succeeded", { atMs: 0, version: "4" }));
  assert.deepEqual(await stateOf(id), ["completed", "succeeded"]);
});

test("where the payment stands counts, not what an event is called", async () => {
  const id = await newSession();
  const refund = event(id, "refunded", { outcome: "succeeded", version: "4" });
  await takeInAll({ ...refund, attributes: { ...refund.attributes, payment_status: "disputed" } });
  assert.deepEqual(await stateOf(id), ["completed", "disputed"]);
});

test("one event taken in by two replicas at once counts once", async () => {
  const id = await newSession();
  const paid = event(id, "succeeded");
  await Promise.all(Array.from({ length: 8 }, () => takeInAll(paid)));
  assert.deepEqual(await announced(id), ["completed"]);
});

test("a repeated event is known by its id, not by what it says", async () => {
  const id = await newSession();
  const requiresAction = event(id, "requires_action", { failed: "1" });
  await takeInAll(requiresAction, event(id, "failed", { failed: "1" }));
  await takeInAll(requiresAction);
  assert.deepEqual(await stateOf(id), ["open", "failed"]);
});

test("two batches that touch the same sessions in opposite order do not block each other", async () => {
  const ids = await Promise.all(Array.from({ length: 3 }, () => newSession()));
  const forth = ids.map((id) => event(id, "processing", { atMs: 1 }));
  const back = ids.map((id) => event(id, "succeeded", { atMs: 2 })).reverse();
  const running: Promise<void>[] = [];
  await db.transaction(async (tx) => {
    await tx.rows("select from sessions where id = $1 for update", [ids[0]]);
    for (const batch of [forth, back]) {
      running.push(takeInAll(...batch));
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

test("an answer without a version that another change overtook reopens nothing", async () => {
  const id = await newSession();
  const stored = await findSession(db, id);
  assert(stored);
  await takeInAll(event(id, "processing"));
  const answer = {
    outcome: "open",
    paymentStatus: "requires_action",
    receiptUrl: "",
    capturedAmount: undefined,
    failedAttempts: 0,
    version: 0n,
    at: "now",
  } as const;
  const after = await applyFact({ db, outbox }, stored, answer);
  assert.equal(after.state.status, "processing");
  const fresh = await applyFact({ db, outbox }, after, answer);
  assert.equal(fresh.state.status, "open");
  assert.deepEqual(await announced(id), ["processing", "reopened"]);
});

test("an answer that an older event overtook is still the newest, and one that is older changes nothing", async () => {
  const id = await newSession();
  const stored = await findSession(db, id);
  assert(stored);
  await takeInAll(event(id, "processing", { version: "2" }));
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
  await takeInAll(event(id, "processing", { version: "4" }));
  const older = await applyFact({ db, outbox }, newer, { ...answer, paymentStatus: "failed", version: 3n });
  assert.equal(older.state.status, "processing");
});

test("events of payments without a session, of unknown sessions and without sense are passed over", async () => {
  const id = await newSession();
  const stranger = newId("session");
  await takeInAll(
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

/** Minutes until the session's intent is looked at, rounded up. */
async function minutesToNextCheck(id: Id<"session">): Promise<number | undefined> {
  const [row] = await db.rows<{ minutes: number }>(
    "select ceil(extract(epoch from next_check_at - now()) / 60)::int as minutes from sessions where id = $1",
    [id],
  );
  return row?.minutes;
}

test("tries that are over fall due for the sweeper at once", async () => {
  const id = await newSession();
  await takeInAll(event(id, "failed", { failed: "10" }));
  assert.deepEqual([await minutesToNextCheck(id), await stateOf(id)], [0, ["open", "failed"]]);
  assert.equal(paymentIdOf(id).slice(4), id.slice(3));
});

test("while an attempt is under way the next look is ten minutes away, afterwards at the session's end", async () => {
  for (const status of ["processing", "requires_action"]) {
    const id = await newSession();
    assert.equal(await minutesToNextCheck(id), 60);
    await takeInAll(event(id, status, { version: "2" }));
    assert.equal(await minutesToNextCheck(id), 10, status);
    await takeInAll(event(id, "failed", { failed: "1", version: "3" }));
    assert.equal(await minutesToNextCheck(id), 60, status);
  }
});

test("a session that is open again falls due at once when its merchant ended it or its time is over meanwhile", async () => {
  const [expiring, overdue] = [await newSession(), await newSession()];
  await takeInAll(event(expiring, "processing", { version: "2" }), event(overdue, "processing", { version: "2" }));
  await requestExpiry(db, expiring, outbox.toRows([]));
  assert.equal(await minutesToNextCheck(expiring), 1);
  await db.rows("update sessions set expires_at = created_at + interval '1 microsecond' where id = $1", [overdue]);
  for (const id of [expiring, overdue]) {
    await takeInAll(event(id, "failed", { failed: "1", version: "3" }));
    assert.deepEqual([await minutesToNextCheck(id), await stateOf(id)], [0, ["open", "failed"]]);
  }
});

test("asking for the expiry of a session that has just ended changes nothing", async () => {
  const id = await newSession();
  await takeInAll(event(id, "succeeded", { version: "2" }));
  await requestExpiry(db, id, outbox.toRows([]));
  assert.deepEqual(await stateOf(id), ["completed", "succeeded"]);
});

test("a session that could not be ended is looked at after 1, 2, 4, 8 minutes, then every 10", async () => {
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
