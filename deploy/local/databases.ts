// One database for each service on one PostgreSQL server, named after a stem: `tollbooth_checkout`, `tollbooth_payments`, …
import pg from "pg";
import { reasonOf, StartError } from "./start-error.ts";

/** Everyone who has a database. */
export const databaseOwners = ["checkout", "payments", "merchant", "webhook", "simulator"] as const;
export type DatabaseOwner = (typeof databaseOwners)[number];

const stemDefault = "tollbooth";
/** PostgreSQL's limit for names is 63 bytes; the longest suffix is `_simulator`. */
const stemLengthMax = 63 - "_simulator".length;
const connectMsMax = 10_000;
const invalidCatalogName = "3D000"; // "database does not exist"
const duplicateDatabase = "42P04";

/** URLs of a stack's databases. */
export interface StackDatabases {
  /** Of the database with the stem's name, which is empty: append `_<service>` for the service's one. */
  stem: string;
  of: Record<DatabaseOwner, string>;
}

/**
 * Creates the databases that are missing.
 * @param databaseUrl a server and a role that may create databases; its database's name is the stem
 */
export async function createDatabases(databaseUrl: string): Promise<StackDatabases> {
  const url = new URL(databaseUrl);
  const stem = decodeURIComponent(url.pathname.slice(1)) || stemDefault;
  if (Buffer.byteLength(stem) > stemLengthMax) {
    throw new StartError(`DATABASE_URL: the database's name may have at most ${stemLengthMax} bytes`);
  }
  const admin = await connectSomewhere(url, stem);
  try {
    for (const name of [stem, ...databaseOwners.map((owner) => `${stem}_${owner}`)]) await create(admin, name);
  } finally {
    await admin.end();
  }
  const of = (owner: DatabaseOwner) => withDatabase(url, `${stem}_${owner}`);
  return {
    stem: withDatabase(url, stem),
    of: {
      checkout: of("checkout"),
      payments: of("payments"),
      merchant: of("merchant"),
      webhook: of("webhook"),
      simulator: of("simulator"),
    },
  };
}

/** The same server, user and options, another database. */
export function withDatabase(url: URL | string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${encodeURIComponent(name)}`;
  return other.href;
}

/** Databases can be created from any other one; the named one may not exist yet. */
async function connectSomewhere(url: URL, stem: string): Promise<pg.Client> {
  for (const name of [stem, "postgres", "template1"]) {
    const connectionString = withDatabase(url, name);
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: connectMsMax });
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      if (errorCode(error) === invalidCatalogName) continue;
      throw new StartError(`DATABASE_URL: cannot connect to PostgreSQL at ${url.host} (${reasonOf(error)})`);
    }
  }
  throw new StartError(`DATABASE_URL: no database to connect to at ${url.host}`);
}

async function create(admin: pg.Client, name: string): Promise<void> {
  const known = await admin.query("select 1 from pg_database where datname = $1", [name]);
  if (known.rowCount !== 0) return;
  try {
    await admin.query(`create database ${admin.escapeIdentifier(name)}`);
  } catch (error) {
    if (errorCode(error) === duplicateDatabase) return; // another stack on this server was faster
    throw new StartError(`DATABASE_URL: cannot create the database ${name} (${reasonOf(error)})`);
  }
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
