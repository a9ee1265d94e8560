// Database connections: TLS at the start, lost connections, plans, and read-only servers.
import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import { Database } from "#platform/database/database.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { ApplicationEntity } from "../../../services/merchant/store/applications.ts";
import { MappedDatabase } from "../../../services/merchant/store/mapped-database.ts";
import { openLink } from "../../chaos/link.ts";
import { freshDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("platform database");
const log = createLog("test", "silent");
const connectionsMax = 2;

const statementMsMax = 500;
const options = { name: "test", log, connectionsMax, statementMsMax };

const openings = {
  plain: (url: string) => Database.open({ url, ...options }),
  mapped: (url: string) => MappedDatabase.open({ url, ...options, entities: [ApplicationEntity] }),
};

for (const [kind, open] of Object.entries(openings)) {
  test(`a connection that dies within a ${kind} transaction is replaced, and closing does not wait for it`, () =>
    diesInTransaction(open));

  test(`a ${kind} database recovers within its limit when the server vanishes silently`, () => vanishes(open));

  test(`a ${kind} database whose URL requires TLS sends nothing without it`, () => requiresTls(open));
}

test("a statement is planned again when its table has grown, before new statistics", async () => {
  const { url } = await freshDatabase();
  const db = await Database.open({ url, name: "test", log, connectionsMax: 1, plansMs: 300 });
  await db.rows("create table numbers (id integer primary key, n integer) with (autovacuum_enabled = off)");
  await db.rows("insert into numbers values (1, 1)");
  await db.rows("analyze numbers");
  const find = () => db.rows<{ n: number }>("select n from numbers where id = $1", [1]);
  const plan = async () => {
    const [named] = await db.rows<{ name: string }>(
      "select name from pg_prepared_statements where statement = 'select n from numbers where id = $1'",
    );
    return JSON.stringify(await db.rows(`explain execute ${named?.name} (1)`));
  };
  // After five runs PostgreSQL keeps a plan for all values.
  for (let run = 0; run < 10; run++) await find();
  assert.match(await plan(), /Seq Scan/);
  await db.rows("insert into numbers select n, n from generate_series(2, 20000) as n");
  await eventually("a plan by the index", async () => (await plan()).includes("Index"));
  assert.deepEqual(await find(), [{ n: 1 }]);
  await db.close();
});

test("reads go on when a migration changes a table under their prepared statements", async () => {
  const { url } = await freshDatabase();
  const db = await Database.open({ url, ...options });
  await db.rows("create table pets (id integer primary key)");
  const find = () => db.rows<object>("select * from pets where id = $1", [1]);
  const reads = () => Promise.all([find(), find(), db.snapshot((sql) => sql.rows("select * from pets", []))]);
  await reads();
  await db.rows("alter table pets add column name text");
  await db.rows("insert into pets values (1, 'Rex')");
  assert.deepEqual(await reads(), Array(3).fill([{ id: 1, name: "Rex" }]));
  await db.close();
});

test("takesWrites is false while the database is read-only or its disk is full", async () => {
  const { url } = await freshDatabase();
  const db = await Database.open({ url, name: "test", log });
  const named = new URL(url).pathname.slice(1);
  assert.equal(await db.takesWrites(), true);

  await db.rows(`alter database ${named} set default_transaction_read_only = on`);
  const another = await Database.open({ url, name: "test", log });
  assert.equal(await another.takesWrites(), false);
  await another.close();
  await db.rows(`alter database ${named} reset default_transaction_read_only`);

  // The server's error code for a full disk, for statements that need space.
  await db.rows(
    "create function no_room() returns event_trigger language plpgsql as $$ begin raise 'full' using errcode = '53100'; end $$",
  );
  await db.rows(
    "create event trigger full_disk on ddl_command_start when tag in ('CREATE TABLE') execute function no_room()",
  );
  assert.equal(await db.takesWrites(), true, "no write was refused yet");
  await assert.rejects(db.rows("create table another (id int)"), (error) => membersOf(error).code === "53100");
  assert.equal(await db.takesWrites(), false);
  await db.rows("drop event trigger full_disk");
  assert.equal(await db.takesWrites(), true, "there is space again");
  await db.close();
});

function through(url: string, port: number): string {
  const led = new URL(url);
  led.port = String(port);
  return led.href;
}

async function diesInTransaction(open: (url: string) => Promise<Database>): Promise<void> {
  const { url } = await freshDatabase();
  const db = await open(url);
  for (let i = 0; i < 3 * connectionsMax; i++) {
    const dying = db.transaction(async (tx) => {
      await tx.rows("select pg_terminate_backend(pg_backend_pid())", []);
    });
    await assert.rejects(dying);
  }
  await Promise.all(Array.from({ length: 10 }, () => db.transaction((tx) => tx.rows("select 1", []))));
  await db.close();
}

/** Drops packets of existing connections, while new ones to the same address are answered. */
async function vanishes(open: (url: string) => Promise<Database>): Promise<void> {
  const { url } = await freshDatabase();
  const link = await openLink(Number(new URL(url).port));
  const db = await open(through(url, link.port));
  const all = <T>(work: () => Promise<T>) => Promise.allSettled(Array.from({ length: connectionsMax }, work));
  const busy = () => db.transaction((tx) => tx.rows("select pg_sleep(0.2)", []));
  assert.ok((await all(busy)).every(({ status }) => status === "fulfilled"));
  let isReported = false;
  const hole = link.blackHole(6 * statementMsMax).then(() => (isReported = true));
  const inTransaction = await all(() => db.transaction((tx) => tx.rows("select 1", [])));
  assert.ok(inTransaction.every(({ status }) => status === "rejected"));
  assert.deepEqual(await db.rows("select 1 as one", []), [{ one: 1 }]);
  assert.equal(isReported, false, "long before the link reports it");
  assert.ok(
    (await all(busy)).every(({ status }) => status === "fulfilled"),
    "statements within the limit succeed",
  );
  await db.close();
  await hole;
  await link.close();
}

async function requiresTls(open: (url: string) => Promise<Database>): Promise<void> {
  const received: Buffer[] = [];
  const withoutTls = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => {
      received.push(data);
      socket.write("N");
    });
  });
  await new Promise<void>((resolve) => withoutTls.listen(0, "127.0.0.1", resolve));
  const { port } = withoutTls.address() as AddressInfo;
  const db = await open(`postgres://tollbooth:secret@127.0.0.1:${port}/merchant?sslmode=verify-full`);
  await assert.rejects(db.rows("select 1"), /does not support SSL/);
  await db.close();
  await new Promise((resolve) => withoutTls.close(resolve));
  // SSLRequest: length and request code (PostgreSQL's protocol, "Message Formats").
  assert.equal(Buffer.concat(received).toString("hex"), "0000000804d2162f");
}

test.run();
