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

  constructor() {
    const sent: string[] = [];
    const begin = Promise.withResolvers<{ rows: unknown[] }>();
    const query = async (text: string) => {
      sent.push(text);
      return text === "begin" ? await begin.promise : { rows: [] };
    };
    const connect = async () => ({ query, release: () => {} });
    super(Object.assign(new EventEmitter(), { connect }) as unknown as pg.Pool);
    this.sent = sent;
    this.begin = begin;
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a first read is sent with the beginning; what writes, and the end, wait until that is answered", async () => {
  const db = new HeldDatabase();
  const done = db.transaction(async (tx) => {
    await tx.rows("select 1 for update");
    await Promise.all([tx.rows("insert a"), tx.rows("update b")]);
  });
  await turn();
  assert.deepEqual(db.sent, ["begin", "select 1 for update"]);
  db.begin.resolve({ rows: [] });
  await done;
  assert.deepEqual(db.sent.slice(2), ["insert a", "update b", "commit"]);
});

for (const statement of ["insert a", "with b as (delete from b) select 1", "update c"]) {
  test(`where a transaction does not begin, "${statement}" is never sent`, async () => {
    const db = new HeldDatabase();
    const done = db.transaction(async (tx) => {
      await tx.rows("select 1");
      await tx.rows(statement);
    });
    db.begin.reject(new Error("canceled"));
    await assert.rejects(done, /canceled/);
    assert.deepEqual(db.sent, ["begin", "select 1", "rollback"]);
  });
}

test("work that only read is answered by nobody where its transaction did not begin", async () => {
  const db = new HeldDatabase();
  const done = db.transaction((tx) => tx.rows("select 1"));
  db.begin.reject(new Error("canceled"));
  await assert.rejects(done, /canceled/);
  assert.deepEqual(db.sent.at(-1), "rollback");
});

test.run();
