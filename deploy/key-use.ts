// `npm run key-use`: how much of a service's database still needs each of its keys, so that an operator knows when an old one may go. Reads
// alone and needs no key. Settings: SERVICE (checkout, payments, merchant or webhook), DATABASE_URL.
import { ConfigError, oneOf, readConfig, serviceSettings } from "#platform/config.ts";
import { Database } from "#platform/database.ts";
import { encryptionStates, encryptionsMax } from "#platform/encryption-count.ts";
import { createLog } from "#platform/log.ts";
import { checkSchema, type ServiceName } from "#platform/migrate.ts";
import { hashedColumns } from "./hashed-columns.ts";
import { sealedColumns } from "./sealed-columns.ts";

try {
  const { SERVICE, DATABASE_URL } = readConfig({
    SERVICE: oneOf("checkout", "payments", "merchant", "webhook"),
    DATABASE_URL: serviceSettings.DATABASE_URL,
  });
  const db = await Database.open({ url: DATABASE_URL, name: "key-use", log: createLog("key-use", "error") });
  try {
    await checkSchema(db, SERVICE);
    await tellHashKeys(db, SERVICE);
    await tellEncryptionKeys(db, SERVICE);
  } finally {
    await db.close();
  }
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exitCode = 1;
}

async function tellHashKeys(db: Database, service: ServiceName): Promise<void> {
  for (const { table, column, keyIdColumn, inUse } of hashedColumns[service]) {
    const rows = await db.rows<{ id: string; used: string; ended: string }>(
      `select ${keyIdColumn} as id, count(*) filter (where ${inUse}) as used, count(*) filter (where not (${inUse})) as ended
       from ${table} group by 1 order by 1`,
    );
    for (const { id, used, ended } of rows) {
      const key = id === "" ? "the hash key without a name" : `hash key ${id}`;
      console.log(`${table}.${column}: ${used} in use and ${ended} ended under ${key}`);
    }
  }
}

async function tellEncryptionKeys(db: Database, service: ServiceName): Promise<void> {
  for (const { table, column } of sealedColumns[service]) {
    const rows = await db.rows<{ id: string; values: string }>(
      `select encode(substring(${column} from 2 for get_byte(${column}, 0)), 'escape') as id, count(*) as values
       from ${table} where ${column} is not null group by 1 order by 1`,
    );
    for (const { id, values } of rows) console.log(`${table}.${column}: ${values} sealed under encryption key ${id}`);
  }
  for (const [id, { encryptions, firstUsedAt }] of await encryptionStates(db)) {
    const day = firstUsedAt.toISOString().slice(0, 10);
    console.log(`encryption key ${id}: at most ${encryptions} of ${encryptionsMax} encryptions since ${day}`);
  }
}
