// `begin` is pipelined with the first read, and nothing is written before the transaction has begun.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type pg from "pg";
import { suite } from "../../../test/harness/suite.ts";
import { Database } from "./database.ts";

const test = suite("transactions");

/** A pool whose answers the test controls. */
class HeldDatabase extends Database {
  readonly sent: string[];
  /** The answer to `begin`. */
  readonly begin: PromiseWithResolvers<{ rows: unknown[] }>;
  readonly released: unknown[] = [];
  /** Command tag of the end. */
  ends = "COMMIT";

  constructor() {
    const sent: string[] = [];
    const begin = Promise.withResolvers<{ rows: unknown[] }>();
    const query = async (text: string) => {
      sent.push(text);
      if (text.includes("stale")) throw Object.assign(new Error("cached plan"), { code: "0A000" });
      return text === "begin" ? await begin.promise : { rows: [], command: this.ends };
    };
    const connect = async () => ({ query, release: (isBroken: unknown) => this.released.push(isBroken) });
    super(Object.assign(new EventEmitter(), { connect, options: { max: 1 } }) as unknown as pg.Pool);
    this.sent = sent;
    this.begin = begin;
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("pipelines a first read with begin; writes and commit wait for its answer", async () => {
  const db = new HeldDatabase();
  const done = db.transaction(async (tx) => {
    await tx.rows("select 1 from t for update");
    await Promise.all([tx.rows("insert a"), tx.rows("update b")]);
  });
  await turn();
  assert.deepEqual(db.sent, ["begin", "select 1 from t for update"]);
  db.begin.resolve({ rows: [] });
  await done;
  assert.deepEqual(db.sent.slice(2), ["insert a", "update b", "commit"]);
});

for (const statement of ["insert a", "with b as (delete from b) select 1", "update c", "select make_partition($1)"]) {
  test(`never sends "${statement}" when begin fails`, async () => {
    const db = new HeldDatabase();
    const done = db.transaction(async (tx) => {
      await tx.rows("select 1 from t");
      await tx.rows(statement);
    });
    db.begin.reject(new Error("canceled"));
    await assert.rejects(done, /canceled/);
    assert.deepEqual(db.sent, ["begin", "select 1 from t", "rollback"]);
  });
}

test("fails read-only work when begin fails", async () => {
  const db = new HeldDatabase();
  const done = db.transaction((tx) => tx.rows("select 1 from t"));
  db.begin.reject(new Error("canceled"));
  await assert.rejects(done, /canceled/);
  assert.deepEqual(db.sent.at(-1), "rollback");
});

test("sends no statement of another branch after a failure", async () => {
  const db = new HeldDatabase();
  let late: Promise<unknown> | undefined;
  const done = db.transaction(async (tx) => {
    const sealed = Promise.reject(new Error("no key is left"));
    late = Promise.allSettled([tx.rows("insert a")]);
    await Promise.all([late, sealed]);
  });
  const refused = assert.rejects(done, /no key is left/);
  await turn();
  db.begin.resolve({ rows: [] });
  await refused;
  assert.equal(((await late) as PromiseSettledResult<unknown>[])[0]?.status, "rejected");
  assert.deepEqual(db.sent, ["begin", "rollback"]);
});

test("sends no statement after the work ended", async () => {
  const db = new HeldDatabase();
  db.begin.resolve({ rows: [] });
  const kept = await db.transaction(async (tx) => ({ tx }));
  await assert.rejects(kept.tx.rows("select 1 from t"), /over/);
  assert.deepEqual(db.sent, ["begin", "commit"]);
});

test("runs a read after an earlier write", async () => {
  const db = new HeldDatabase();
  const done = db.transaction((tx) => Promise.all([tx.rows("insert a"), tx.rows("select 1 from a")]));
  db.begin.resolve({ rows: [] });
  await done;
  assert.deepEqual(db.sent, ["begin", "insert a", "select 1 from a", "commit"]);
});

test("throws when work continued after a failed statement", async () => {
  const db = new HeldDatabase();
  db.begin.resolve({ rows: [] });
  db.ends = "ROLLBACK";
  await assert.rejects(
    db.transaction(async () => {}),
    /rolled back/,
  );
});

test("drops a connection whose prepared statements a migration outdated", async () => {
  const db = new HeldDatabase();
  db.begin.resolve({ rows: [] });
  await assert.rejects(
    db.transaction((tx) => tx.rows("select stale from t")),
    { code: "0A000" },
  );
  await db.transaction(async () => {});
  assert.deepEqual(db.released, [true, false]);
});

test("repeats a read on another connection after a migration outdated its prepared statements", async () => {
  const db = new HeldDatabase();
  let reads = 0;
  const rows = await db.snapshot((sql) => sql.rows(reads++ === 0 ? "select stale from t" : "select a from t"));
  assert.deepEqual([rows, reads, db.released], [[], 2, [true, false]]);
});

test.run();
