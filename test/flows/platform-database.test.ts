// The platform's database connections when the server drops them.
import assert from "node:assert/strict";
import type { EntitySchema } from "@mikro-orm/postgresql";
import { Database } from "#platform/database.ts";
import { createLog } from "#platform/log.ts";
import { endpointEntities } from "../../services/webhook/store/endpoints.ts";
import { freshDatabase } from "../harness/database.ts";
import { suite } from "../harness/suite.ts";

const test = suite("platform database");
const log = createLog("test", "silent");
const connectionsMax = 2;

for (const [kind, entities] of [
  ["plain", []],
  ["mapped", endpointEntities],
] as const) {
  test(`a connection that dies within a ${kind} transaction costs the pool no place, and closing does not wait for it`, () =>
    diesInTransaction(entities));
}

async function diesInTransaction(entities: readonly EntitySchema[]): Promise<void> {
  const { url } = await freshDatabase();
  const db = await Database.open({ url, name: "test", log, connectionsMax, entities });
  for (let i = 0; i < 3 * connectionsMax; i++) {
    const dying = db.transaction(async (tx) => {
      await tx.rows("select pg_terminate_backend(pg_backend_pid())", []);
    });
    await assert.rejects(dying);
  }
  await Promise.all(Array.from({ length: 10 }, () => db.transaction((tx) => tx.rows("select 1", []))));
  await db.close();
}

test.run();
