// Which places of its stream an outbox notes as known, in a real PostgreSQL: a recovery reads back all others.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Database } from "#platform/database/database.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { knownPlaces, markPublished, readRecord, sendLostAgain } from "#platform/events/stream-record.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { freshDatabase } from "../../harness/database.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("known places of a stream");
let db: Database;
let rows: { seq: string; eventId: string }[];

test.beforeEach(async () => {
  db = await Database.open({
    url: (await freshDatabase("payments")).serviceUrl,
    name: "test",
    log: createLog("test", "silent"),
  });
  const about = {
    type: "payment.succeeded",
    merchantId: "mer_1",
    environment: Environment.SANDBOX,
    status: "succeeded",
  };
  const outbox = new Outbox({ namespace: `t${randomBytes(4).toString("hex")}`, source: "payments" });
  await outbox.append(
    db,
    Array.from({ length: 20 }, (_, i) => ({ ...about, objectId: `pay_${i}`, at: new Date() })),
  );
  const found = await db.rows<{ seq: string; event_id: string }>("select seq, event_id from outbox order by seq");
  rows = found.map(({ seq, event_id: eventId }) => ({ seq, eventId }));
});
test.afterEach(async () => {
  await db.close();
});

/** Marks as many rows as there are places. */
async function mark(...places: number[]): Promise<void> {
  const { epoch } = await readRecord(db);
  const some = rows.splice(0, places.length);
  await markPublished(
    db,
    epoch,
    some.map((row, i) => ({ ...row, place: places[i] ?? 0 })),
  );
}

async function known(): Promise<readonly [number, number]> {
  const { from, to } = await knownPlaces(db);
  return [from, to];
}

for (const [what, marks, expected] of [
  ["nothing before the first mark", [], [1, 0]],
  ["the first places of a stream", [[1, 2, 3]], [1, 3]],
  ["places that follow, in any order", [[1, 2], [4, 3], [5]], [1, 5]],
  [
    "places in between that another replica noted first",
    [
      [3, 4, 5, 6],
      [4, 5],
    ],
    [3, 6],
  ],
  [
    "places before and behind together",
    [
      [3, 4],
      [2, 3, 4, 5],
    ],
    [2, 5],
  ],
  [
    "nothing of places with a hole, which somebody else's event may fill",
    [
      [1, 2],
      [3, 5],
    ],
    [1, 2],
  ],
  [
    "nothing of a place that was given twice beside one with a hole",
    [
      [1, 2],
      [3, 3, 5],
    ],
    [1, 2],
  ],
  [
    "the later ones, where something between them and earlier ones that come late is not known",
    [[7, 8], [1, 2], [9]],
    [7, 9],
  ],
  ["only the newest, where something between is not known", [[1, 2], [7, 8], [9]], [7, 9]],
] as const) {
  test(`an outbox knows ${what}`, async () => {
    for (const places of marks) await mark(...places);
    assert.deepEqual(await known(), expected);
  });
}

test("an outbox knows no place of a row that it has not, and marks nothing for it", async () => {
  await mark(1);
  const [first, second, third] = rows.splice(0, 3);
  assert(first && second && third);
  const { epoch } = await readRecord(db);
  const foreign = { seq: second.seq, eventId: third.eventId, place: 3 };
  await markPublished(db, epoch, [{ ...first, place: 2 }, foreign, { seq: "999", eventId: "evt_gone", place: 4 }]);
  assert.deepEqual(await known(), [1, 2]);
  const [{ count } = { count: 0 }] = await db.rows<{ count: number }>(
    "select count(published_at)::int as count from outbox",
  );
  assert.equal(count, 2);
  assert.equal((await readRecord(db)).lastSeq, 4, "a place that was given is given, whoever has the row");
});

const none = (from: number) => [from, from - 1];

test("an outbox knows nothing of what a mark says that comes after a loss, nor of the stream before it", async () => {
  await mark(1, 2, 3);
  const before = await readRecord(db);
  const seen = { stream: "another", madeAt: "now", isOurs: false, lastSeq: 0, gaps: [], consumers: [] };
  await sendLostAgain(db, before, { kind: "another_stream", seen });
  assert.deepEqual(await known(), none(1));
  const [late] = rows.splice(0, 1);
  assert(late);
  await markPublished(db, before.epoch, [{ ...late, place: 4 }]);
  assert.deepEqual(await known(), none(1));
});

test("an outbox forgets after a cut which places it knew, also those that are given again beside others", async () => {
  await mark(1, 2, 3, 4);
  await sendLostAgain(db, await readRecord(db), { kind: "shorter", lastSeq: 1 });
  assert.deepEqual(await known(), none(1));
  await mark(2, 4);
  assert.deepEqual(await known(), none(1), "a hole notes nothing");
  await mark(3);
  assert.deepEqual(await known(), [3, 3], "4 may be somebody else's by now");
});

test.run();
