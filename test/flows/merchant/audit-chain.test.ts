// The chains of the audit log on a real database: written by many at once, adopted where a release before wrote without
// them, and every tampering behind the triggers' back found by its place.
import assert from "node:assert/strict";
import { fromBinary } from "@bufbuild/protobuf";
import { register } from "prom-client";
import { Database } from "#platform/database/database.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { appendAudit, chainLateEntries } from "../../../services/merchant/flows/append-audit.ts";
import { checkNextStretch } from "../../../services/merchant/jobs/check-audit-chain.ts";
import { auditConsumers } from "../../../services/merchant/jobs/record-audit.ts";
import { type Breach, followChain, origin } from "../../../services/merchant/rules/audit-chain.ts";
import { lastHeld } from "../../../services/merchant/store/audit-check.ts";
import { type AuditEntry, insertEntries, unchainedEntries } from "../../../services/merchant/store/audit-entries.ts";
import { linksAfter } from "../../../services/merchant/store/audit-links.ts";
import { freshDatabase, type TestDatabase } from "../../harness/database.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("chains of the audit log", { timeoutMs: 60_000 });
let database: TestDatabase;
let db: Database;
let admin: Database;

test.before(async () => {
  database = await freshDatabase("merchant");
  admin = await Database.open({ url: database.url, name: "test-admin", log: createLog("test", "silent") });
  db = await Database.open({ url: database.serviceUrl, name: "test", log: createLog("test", "silent") });
});
test.after(async () => {
  await admin.close();
  await db.close();
  await database.drop();
});

function entryOf(merchantId: string, details: AuditEntry["details"] = {}): AuditEntry {
  return {
    id: newId("event"),
    occurredAt: new Date(1_700_000_000_123),
    merchantId,
    environment: Environment.LIVE,
    actor: "operator",
    requestId: newId("request"),
    action: "merchant.updated",
    objectId: merchantId,
    status: "",
    details,
  };
}

/** The whole chain, followed as it is stored. */
async function followed(merchantId: string) {
  const links = await linksAfter(db, merchantId, 0n, 10_000);
  return {
    ids: links.map(({ entryId }) => entryId),
    late: links.map(({ isLate }) => isLate),
    ...followChain(merchantId, origin, links, []),
  };
}

test("batches of several merchants at once, with repeats and in any order, leave each merchant one chain with every entry once", async () => {
  const merchants = ["", ...Array.from({ length: 5 }, () => newId("merchant"))];
  const entries = Array.from({ length: 240 }, (_, i) => entryOf(merchants[i % merchants.length] ?? ""));
  const batches = Array.from({ length: 16 }, (_, n) => {
    // Each overlaps the next ones, and every second one runs backwards.
    const batch = Array.from({ length: 60 }, (_, i) => entries[(n * 15 + i) % entries.length]).filter(
      (entry) => !!entry,
    );
    return n % 2 === 0 ? batch : batch.toReversed();
  });
  await Promise.all(batches.map((batch) => appendAudit(db, batch)));
  const twice = entryOf(merchants[1] ?? "");
  await appendAudit(db, [twice, ...entries.slice(0, 3), twice]);
  entries.push(twice);
  for (const merchantId of merchants) {
    const wanted = entries.filter((entry) => entry.merchantId === merchantId).map(({ id }) => id);
    const { ids, place, broken, late } = await followed(merchantId);
    assert.equal(broken, undefined);
    assert.deepEqual(ids.toSorted(), wanted.toSorted());
    assert.equal(place.seq, BigInt(wanted.length));
    assert.ok(!late.includes(true));
  }
});

test("an entry is hashed alike from the event and from the table, whatever is in its texts", async () => {
  const merchantId = newId("merchant");
  const odd = {
    "": "empty name",
    é: "e\u0301",
    "\u{1f600}": '"\\u0000',
    "\uffee": "\u202e",
    z: "",
    a: " \n",
    10: "x",
    9: "y",
  };
  await appendAudit(db, [
    { ...entryOf(merchantId, odd), actor: "\u{10ffff}'", occurredAt: new Date(-62_000_000_000_001) },
  ]);
  const { broken, place } = await followed(merchantId);
  assert.deepEqual([broken, place.seq], [undefined, 1n]);
});

test("entries that the release before wrote without a link are chained later, in their order, and say so", async () => {
  const merchantId = newId("merchant");
  const [first, early, last, late] = [1, 2, 3, 4].map(() => entryOf(merchantId));
  assert.ok(first && early && last && late);
  await insertEntries(db, [late, early]);
  await appendAudit(db, [last, first]);
  const { entries } = await unchainedEntries(db, "", 10_000);
  const [once, again] = await Promise.all([chainLateEntries(db, entries), chainLateEntries(db, entries)]);
  assert.equal(once + again, 2);
  const { ids, late: lateness, broken } = await followed(merchantId);
  assert.equal(broken, undefined);
  assert.deepEqual(ids, [last.id, first.id, early.id, late.id]);
  assert.deepEqual(lateness, [false, false, true, true]);
  assert.deepEqual((await unchainedEntries(db, "", 10_000)).entries, []);
});

test("a time at which no pass can have ended counts as none", async () => {
  const [before] = await db.rows<{ held_at: string }>("select held_at from audit_check");
  for (const written of ["infinity", "-infinity", "2100-01-01"]) {
    await db.rows("update audit_check set held_at = $1", [written]);
    assert.equal((await lastHeld(db)).at.getTime(), 0, written);
  }
  await db.rows("update audit_check set held_at = $1", [before?.held_at]);
});

test("an appender that dies leaves neither an entry nor a link", async () => {
  const merchantId = newId("merchant");
  const entry = entryOf(merchantId);
  await assert.rejects(appendAudit(db, [entry, { ...entry, id: "evt_wrong" }]), /audit_entries_id_check/);
  assert.deepEqual(await db.rows("select from audit_entries where merchant_id = $1", [merchantId]), []);
  await appendAudit(db, [entry]);
  assert.equal((await followed(merchantId)).place.seq, 1n);
});

/** As the owner of the tables may: behind the triggers' back. */
async function tampered(...statements: string[]): Promise<void> {
  await admin.transaction(async (tx) => {
    await tx.rows("set local session_replication_role = replica");
    for (const statement of statements) await tx.rows(statement);
  });
}

/** One whole pass of the job. @returns what it says of each chain, and the heads that it announced */
async function pass() {
  const said: Record<string, unknown>[] = [];
  const log = createLog("test", "silent");
  Object.assign(log, { error: (fields: Record<string, unknown>) => said.push(fields) });
  const outbox = new Outbox({ namespace: "test", source: "merchant" });
  const [{ seq } = { seq: "0" }] = await db.rows<{ seq: string }>("select max(seq) as seq from outbox");
  const began = await lastHeld(db);
  await db.rows("update audit_check set due_at = now()");
  do await checkNextStretch({ db, outbox, log });
  while ((await db.rows("select from audit_check where entry_id <> '' or merchant_id is not null")).length > 0);
  const rows = await db.rows<{ body: Buffer }>("select body from outbox where seq > coalesce($1, 0) order by seq", [
    seq,
  ]);
  const events = rows.map(({ body }) => fromBinary(EventSchema, body));
  const held = await lastHeld(db);
  return { said, events, hasHeld: held.at.getTime() !== began.at.getTime() };
}

async function breaksCounted(what: string): Promise<number | undefined> {
  const { values = [] } = (await register.getSingleMetric("tollbooth_audit_breaks_total")?.get()) ?? {};
  return values.find(({ labels }) => labels.what === what)?.value;
}

test("a pass chains what is in no chain, finds that all hold, and tells each new head once, as an event and in the table", async () => {
  const [one, other] = [newId("merchant"), newId("merchant")];
  await appendAudit(db, [entryOf(one), entryOf(one), entryOf("")]);
  await insertEntries(db, [entryOf(other)]);
  const first = await pass();
  assert.deepEqual([first.said, first.hasHeld], [[], true]);
  const of = (merchantId: string) => first.events.filter((event) => event.merchantId === merchantId);
  for (const merchantId of [one, other, ""]) {
    const { place } = await followed(merchantId);
    const [event, ...more] = of(merchantId);
    assert.deepEqual([event?.type, more], ["audit.head_sealed", []]);
    const head = { sequence: String(place.seq), hash: Buffer.from(place.hash).toString("hex") };
    assert.deepEqual(event?.attributes, head);
  }
  assert.deepEqual((await followed(other)).late, [true]);
  assert.deepEqual((await pass()).events, []);
  await appendAudit(db, [entryOf(one)]);
  const { events } = await pass();
  assert.deepEqual(
    events.map(({ merchantId, attributes }) => [merchantId, attributes.sequence]),
    [[one, "3"]],
  );
  // A head that is told is no entry of the log, which would move it.
  const [told] = events;
  assert.ok(told);
  const consumer = auditConsumers(db).find(({ types }) => types === ">");
  await consumer?.handle([told, { ...told, id: newId("event"), type: "merchant.updated" }]);
  assert.deepEqual(await db.rows("select from audit_entries where action = 'audit.head_sealed'"), []);
  assert.equal((await followed(one)).place.seq, 4n);
  await pass();
});

test("whatever is changed, taken out, put in or cut off behind the triggers' back is found at its place, and no head of it is told", async () => {
  const cases: [what: Breach, seq: number, (merchantId: string, ids: readonly string[]) => string[]][] = [
    ["entry_changed", 2, (_, ids) => [`update audit_entries set actor = 'ak_other' where id = '${ids[1]}'`]],
    [
      "entry_changed",
      3,
      (_, ids) => [
        `update audit_entries set occurred_at = occurred_at + interval '1 microsecond' where id = '${ids[2]}'`,
      ],
    ],
    ["entry_changed", 1, (_, ids) => [`update audit_entries set occurred_at = 'infinity' where id = '${ids[0]}'`]],
    ["entry_changed", 1, (_, ids) => [`update audit_entries set details = '{"amount": 400}' where id = '${ids[0]}'`]],
    ["entry_changed", 4, (_, ids) => [`update audit_entries set details = '"x"' where id = '${ids[3]}'`]],
    [
      "entry_changed",
      1,
      (_, ids) => [`update audit_entries set merchant_id = '${newId("merchant")}' where id = '${ids[0]}'`],
    ],
    ["entry_missing", 2, (_, ids) => [`delete from audit_entries where id = '${ids[1]}'`]],
    [
      "link_missing",
      2,
      (_, ids) => [
        `delete from audit_entries where id = '${ids[1]}'`,
        `delete from audit_links where entry_id = '${ids[1]}'`,
      ],
    ],
    [
      "tail_missing",
      4,
      (_, ids) => [
        `delete from audit_entries where id = '${ids[3]}'`,
        `delete from audit_links where entry_id = '${ids[3]}'`,
      ],
    ],
    [
      "tail_missing",
      1,
      (merchantId) =>
        ["entries", "links", "heads"].map((table) => `delete from audit_${table} where merchant_id = '${merchantId}'`),
    ],
    ["entry_changed", 2, (id) => [`update audit_links set late = true where merchant_id = '${id}' and seq = 2`]],
    ["not_as_sealed", 4, (id) => [`update audit_seals set hash = sha256(hash) where merchant_id = '${id}'`]],
    ["not_as_sealed", 4, (id) => [`update audit_heads set hash = sha256(hash) where merchant_id = '${id}'`]],
  ];
  for (const [what, seq, statements] of cases) {
    const merchantId = newId("merchant");
    const entries = Array.from({ length: 4 }, () => entryOf(merchantId, { amount: "400" }));
    await appendAudit(db, entries);
    assert.deepEqual((await pass()).said, []);
    const before = (await breaksCounted(what)) ?? Number.NaN;
    const ids = entries.map(({ id }) => id);
    await tampered(...statements(merchantId, ids));
    const { said, events, hasHeld } = await pass();
    const found = said.map((fields) => [fields.merchant_id, fields.what, fields.sequence]);
    assert.deepEqual(found, [[merchantId, what, String(seq)]], `${what} ${statements(merchantId, ids)}`);
    assert.deepEqual([hasHeld, await breaksCounted(what)], [false, before + 1]);
    assert.deepEqual(
      events.filter((event) => event.merchantId === merchantId),
      [],
    );
    await tampered(
      ...["entries", "links", "heads", "seals"].map(
        (t) => `delete from audit_${t} where merchant_id = '${merchantId}'`,
      ),
      `delete from audit_entries where id in ('${ids.join("','")}')`,
    );
  }
  assert.deepEqual((await pass()).said, []);
});

test("a pass of several stretches goes on where the one before ended", async () => {
  const merchantId = newId("merchant");
  const entries = Array.from({ length: 2_300 }, () => entryOf(merchantId));
  await insertEntries(db, entries);
  const others = Array.from({ length: 70 }, () => entryOf(newId("merchant")));
  await appendAudit(db, others);
  const { said, events, hasHeld } = await pass();
  assert.deepEqual([said, hasHeld], [[], true]);
  assert.equal(events.find((event) => event.merchantId === merchantId)?.attributes.sequence, "2300");
  assert.ok(others.every((other) => events.some((event) => event.merchantId === other.merchantId)));
  await tampered(`update audit_entries set status = 'x' where id = '${entries.at(-1)?.id}'`);
  const again = await pass();
  assert.deepEqual(
    again.said.map(({ what, sequence }) => [what, sequence]),
    [["entry_changed", "2300"]],
  );
});

test.run();
