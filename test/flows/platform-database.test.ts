// The platform's database connections: how they begin, and when the server drops them.
import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import { Database } from "#platform/database.ts";
import { createLog } from "#platform/log.ts";
import { MappedDatabase } from "#platform/mapped-database.ts";
import { endpointEntities } from "../../services/webhook/store/endpoints.ts";
import { openLink } from "../chaos/link.ts";
import { freshDatabase } from "../harness/database.ts";
import { suite } from "../harness/suite.ts";

const test = suite("platform database");
const log = createLog("test", "silent");
const connectionsMax = 2;

const silenceMsMax = 500;
const options = { name: "test", log, connectionsMax, silenceMsMax };

const openings = {
  plain: (url: string) => Database.open({ url, ...options }),
  mapped: (url: string) => MappedDatabase.open({ url, ...options, entities: endpointEntities }),
};

for (const [kind, open] of Object.entries(openings)) {
  test(`a connection that dies within a ${kind} transaction costs the pool no place, and closing does not wait for it`, () =>
    diesInTransaction(open));

  test(`a ${kind} database goes on within the limit when the server of its connections vanishes without a word`, () =>
    vanishes(open));

  test(`a ${kind} database whose URL wants TLS says nothing before it, and does not go on without`, () =>
    asksForTls(open));
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

/** Packets of the connections that are there are dropped; at the same address a new server answers at once. */
async function vanishes(open: (url: string) => Promise<Database>): Promise<void> {
  const { url } = await freshDatabase();
  const link = await openLink(Number(new URL(url).port));
  const through = new URL(url);
  through.port = String(link.port);
  const db = await open(through.href);
  const all = <T>(work: () => Promise<T>) => Promise.allSettled(Array.from({ length: connectionsMax }, work));
  const busy = () => db.transaction((tx) => tx.rows("select pg_sleep(0.2)", []));
  assert.ok((await all(busy)).every(({ status }) => status === "fulfilled"));
  let isTold = false;
  const hole = link.blackHole(6 * silenceMsMax).then(() => (isTold = true));
  const inTransaction = await all(() => db.transaction((tx) => tx.rows("select 1", [])));
  assert.ok(inTransaction.every(({ status }) => status === "rejected"));
  assert.deepEqual(await db.rows("select 1 as one", []), [{ one: 1 }]);
  assert.equal(isTold, false, "long before anybody says that they are gone");
  assert.ok(
    (await all(busy)).every(({ status }) => status === "fulfilled"),
    "a statement in time is left alone",
  );
  await db.close();
  await hole;
  await link.close();
}

async function asksForTls(open: (url: string) => Promise<Database>): Promise<void> {
  const heard: Buffer[] = [];
  const withoutTls = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => {
      heard.push(data);
      socket.write("N");
    });
  });
  await new Promise<void>((resolve) => withoutTls.listen(0, "127.0.0.1", resolve));
  const { port } = withoutTls.address() as AddressInfo;
  const db = await open(`postgres://tollbooth:secret@127.0.0.1:${port}/merchant?sslmode=verify-full`);
  await assert.rejects(db.ping(), /does not support SSL/);
  await db.close();
  await new Promise((resolve) => withoutTls.close(resolve));
  // SSLRequest: its length, and the number that stands for it (PostgreSQL's protocol, "Message Formats").
  assert.equal(Buffer.concat(heard).toString("hex"), "0000000804d2162f");
}

test.run();
