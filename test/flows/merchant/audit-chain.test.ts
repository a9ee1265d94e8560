// The audit log's chains on a real database: concurrent writers keep one chain per merchant, and every change past the
// triggers is found at its position.
import assert from "node:assert/strict";
import { register } from "prom-client";
import { Database } from "#platform/database/database.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { appendAudit } from "../../../services/merchant/flows/append-audit.ts";
import { checkNextStretch } from "../../../services/merchant/jobs/check-audit-chain.ts";
import { merchantMetrics } from "../../../services/merchant/metrics.ts";
import { type Breach, followChain, origin } from "../../../services/merchant/rules/audit-chain.ts";
import { lastHeld } from "../../../services/merchant/store/audit-check.ts";
import type { AuditEntry } from "../../../services/merchant/store/audit-entries.ts";
import { linksAfter } from "../../../services/merchant/store/audit-links.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("chains of the audit log", { timeoutMs: 60_000 });

const database = fixture(test, () => freshDatabase("merchant"));
const admin = fixture(test, () =>
  Database.open({ url: database.url, name: "test-admin", log: createLog("test", "silent") }),
);
const db = fixture(test, () => openDatabase(database.serviceUrl));

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

/** Follows the whole stored chain. */
async function followed(merchantId: string) {
  const links = await linksAfter(db, merchantId, 0n, 10_000);
  return {
    ids: links.map(({ entryId }) => entryId),
    ...followChain(merchantId, origin, links, []),
  };
}

test("concurrent batches with repeats leave each merchant one chain with every entry once", async () => {
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
    const { ids, position, broken } = await followed(merchantId);
    assert.equal(broken, undefined);
    assert.deepEqual(ids.toSorted(), wanted.toSorted());
    assert.equal(position.seq, BigInt(wanted.length));
  }
});

test("an entry has the same hash from its event and from the table, with any text", async () => {
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
  const { broken, position } = await followed(merchantId);
  assert.deepEqual([broken, position.seq], [undefined, 1n]);
});

test("a failed append leaves neither an entry nor a link", async () => {
  const merchantId = newId("merchant");
  const entry = entryOf(merchantId);
  await assert.rejects(appendAudit(db, [entry, { ...entry, id: "evt_wrong" }]), /audit_entries_id_check/);
  assert.deepEqual(await db.rows("select from audit_entries where merchant_id = $1", [merchantId]), []);
  await appendAudit(db, [entry]);
  assert.equal((await followed(merchantId)).position.seq, 1n);
});

/** Changes rows past the triggers, as the tables' owner can. */
async function tampered(...statements: string[]): Promise<void> {
  await admin.transaction(async (tx) => {
    await tx.rows("set local session_replication_role = replica");
    for (const statement of statements) await tx.rows(statement);
  });
}

/** One full pass of the job. @returns the breaks that it reports, and the heads that it logs */
async function pass() {
  const breaks: Record<string, unknown>[] = [];
  const heads: Record<string, unknown>[] = [];
  const log = createLog("test", "silent");
  const error = (fields: Record<string, unknown>) => breaks.push(fields);
  const info = (fields: Record<string, unknown>, message: string) =>
    message === "audit head sealed" && heads.push(fields);
  Object.assign(log, { error, info });
  const began = await lastHeld(db);
  await db.rows("update audit_check set due_at = now()");
  do await checkNextStretch({ db, log, metrics: merchantMetrics(register) });
  while ((await db.rows("select from audit_check where merchant_id is not null")).length > 0);
  const held = await lastHeld(db);
  return { breaks, heads, hasHeld: held.at.getTime() !== began.at.getTime() };
}

async function breaksCounted(what: string): Promise<number | undefined> {
  const { values = [] } = (await register.getSingleMetric("tollbooth_audit_breaks_total")?.get()) ?? {};
  return values.find(({ labels }) => labels.what === what)?.value;
}

test("a pass over intact chains logs the head of each", async () => {
  const merchantId = newId("merchant");
  await appendAudit(db, [entryOf(merchantId), entryOf(merchantId), entryOf("")]);
  const { breaks, heads, hasHeld } = await pass();
  assert.deepEqual([breaks, hasHeld], [[], true]);
  for (const id of [merchantId, ""]) {
    const { position } = await followed(id);
    const head = { merchant_id: id, sequence: String(position.seq), hash: Buffer.from(position.hash).toString("hex") };
    assert.deepEqual(
      heads.filter(({ merchant_id }) => merchant_id === id),
      [head],
    );
  }
});

test("a changed, removed, inserted or truncated entry is found at its position, and its chain's head is not logged", async () => {
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
    ["entry_changed", 2, (id) => [`update audit_links set late = true where merchant_id = '${id}' and seq = 2`]],
    ["not_as_sealed", 4, (id) => [`update audit_heads set hash = sha256(hash) where merchant_id = '${id}'`]],
  ];
  for (const [what, seq, statements] of cases) {
    const merchantId = newId("merchant");
    const entries = Array.from({ length: 4 }, () => entryOf(merchantId, { amount: "400" }));
    await appendAudit(db, entries);
    assert.deepEqual((await pass()).breaks, []);
    const before = (await breaksCounted(what)) ?? Number.NaN;
    const ids = entries.map(({ id }) => id);
    await tampered(...statements(merchantId, ids));
    const { breaks, heads, hasHeld } = await pass();
    const found = breaks.map((fields) => [fields.merchant_id, fields.what, fields.sequence]);
    assert.deepEqual(found, [[merchantId, what, String(seq)]], `${what} ${statements(merchantId, ids)}`);
    assert.deepEqual([hasHeld, await breaksCounted(what)], [false, before + 1]);
    assert.deepEqual(
      heads.filter(({ merchant_id }) => merchant_id === merchantId),
      [],
    );
    await tampered(
      ...["entries", "links", "heads"].map((t) => `delete from audit_${t} where merchant_id = '${merchantId}'`),
      `delete from audit_entries where id in ('${ids.join("','")}')`,
    );
  }
  assert.deepEqual((await pass()).breaks, []);
});

test("a pass in several parts continues where the previous one ended", async () => {
  const merchantId = newId("merchant");
  const entries = Array.from({ length: 2_300 }, () => entryOf(merchantId));
  const others = Array.from({ length: 70 }, () => entryOf(newId("merchant")));
  await appendAudit(db, [...entries, ...others]);
  const { breaks, heads, hasHeld } = await pass();
  assert.deepEqual([breaks, hasHeld], [[], true]);
  assert.equal(heads.find(({ merchant_id }) => merchant_id === merchantId)?.sequence, "2300");
  assert.ok(others.every((other) => heads.some(({ merchant_id }) => merchant_id === other.merchantId)));
  await tampered(`update audit_entries set status = 'x' where id = '${entries.at(-1)?.id}'`);
  const again = await pass();
  assert.deepEqual(
    again.breaks.map(({ what, sequence }) => [what, sequence]),
    [["entry_changed", "2300"]],
  );
});

test.run();
