// A transaction's beginning travels with its first read, and nothing is written before it is sure to have begun.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type pg from "pg";
import { suite } from "../../../test/harness/suite.ts";
import { Database } from "./database.ts";

const test = suite("transactions");

/** The pool of a server that answers by hand. */
class HeldDatabase extends Database {
  readonly sent: string[];
  /** The server's answer to what begins the transaction. */
  readonly begin: PromiseWithResolvers<{ rows: unknown[] }>;
  readonly released: unknown[] = [];
  /** The tag of what ends it. */
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
    super(Object.assign(new EventEmitter(), { connect }) as unknown as pg.Pool);
    this.sent = sent;
    this.begin = begin;
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a first read is sent with the beginning; what writes, and the end, wait until that is answered", async () => {
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
  test(`where a transaction does not begin, "${statement}" is never sent`, async () => {
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

test("work that only read is answered by nobody where its transaction did not begin", async () => {
  const db = new HeldDatabase();
  const done = db.transaction((tx) => tx.rows("select 1 from t"));
  db.begin.reject(new Error("canceled"));
  await assert.rejects(done, /canceled/);
  assert.deepEqual(db.sent.at(-1), "rollback");
});

test("what a branch of the work says after another one failed is never sent", async () => {
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

test("what is said after the work ended is never sent", async () => {
  const db = new HeldDatabase();
  db.begin.resolve({ rows: [] });
  const kept = await db.transaction(async (tx) => ({ tx }));
  await assert.rejects(kept.tx.rows("select 1 from t"), /over/);
  assert.deepEqual(db.sent, ["begin", "commit"]);
});

test("a read that is said after a write comes after it", async () => {
  const db = new HeldDatabase();
  const done = db.transaction((tx) => Promise.all([tx.rows("insert a"), tx.rows("select 1 from a")]));
  db.begin.resolve({ rows: [] });
  await done;
  assert.deepEqual(db.sent, ["begin", "insert a", "select 1 from a", "commit"]);
});

test("work that went on after a failed statement is not told that it was committed", async () => {
  const db = new HeldDatabase();
  db.begin.resolve({ rows: [] });
  db.ends = "ROLLBACK";
  await assert.rejects(
    db.transaction(async () => {}),
    /rolled back/,
  );
});

test("a connection whose prepared statements a migration has outdated is not kept", async () => {
  const db = new HeldDatabase();
  db.begin.resolve({ rows: [] });
  await assert.rejects(
    db.transaction((tx) => tx.rows("select stale from t")),
    { code: "0A000" },
  );
  await db.transaction(async () => {});
  assert.deepEqual(db.released, [true, false]);
});

test.run();
