// One database per service on one PostgreSQL server, named after a stem: `tollbooth_checkout`, `tollbooth_payments`, ….
// Each service logs in as its own role, which owns nothing and is named like its database.

import pg from "pg";
import { errorCode } from "#platform/values/unchecked.ts";
import { perSource, type Source, sources } from "../../services/services.ts";
import { reasonOf, StartError } from "./start-error.ts";

export const databaseOwners = [...sources, "simulator"] as const;
export type DatabaseOwner = (typeof databaseOwners)[number];

const stemDefault = "tollbooth";
/** PostgreSQL's limit for names is 63 bytes; the longest suffix is `_simulator`. */
const stemLengthMax = 63 - "_simulator".length;
const connectMsMax = 10_000;
const invalidCatalogName = "3D000";
const duplicateDatabase = "42P04";

export interface StackDatabases {
  /** Database named like the stem. It is empty: append `_<service>` for a service's database. */
  stem: string;
  /** With the login of the owner of the tables. */
  of: Record<DatabaseOwner, string>;
  /** With the login of the service. */
  usedBy: Record<Source, string>;
  /** Role names of the services; absent: the server allows no new roles, and services log in as the owner. */
  roles?: Record<Source, string>;
}

/**
 * Creates missing databases and roles.
 * @param databaseUrl a server and a role that may create databases; the database name is the stem
 * @param password of the services' roles
 * @param log reports why services log in as the owner, if they do
 */
export async function createDatabases(
  databaseUrl: string,
  password: string,
  log: (line: string) => void = console.warn,
): Promise<StackDatabases> {
  const url = new URL(databaseUrl);
  const stem = decodeURIComponent(url.pathname.slice(1)) || stemDefault;
  if (Buffer.byteLength(stem) > stemLengthMax) {
    throw new StartError(`DATABASE_URL: the database's name may have at most ${stemLengthMax} bytes`);
  }
  const admin = await connectSomewhere(url, stem);
  let problem: string | undefined;
  try {
    for (const name of [stem, ...databaseOwners.map((owner) => `${stem}_${owner}`)]) await create(admin, name);
    for (const service of sources) problem ??= await ensureLogin(admin, `${stem}_${service}`, password, url);
  } finally {
    await admin.end();
  }
  if (problem !== undefined) log(`  DATABASE_URL: services log in as the owner of their tables: ${problem}`);
  const of = (owner: DatabaseOwner) => withDatabase(url, `${stem}_${owner}`);
  const owned = perSource(of);
  const made = { stem: withDatabase(url, stem), of: { ...owned, simulator: of("simulator") } };
  if (problem !== undefined) return { ...made, usedBy: owned };
  const roles = perSource((service) => `${stem}_${service}`);
  return { ...made, usedBy: perSource((service) => withLogin(owned[service], roles[service], password)), roles };
}

export function withLogin(databaseUrl: string, user: string, password: string): string {
  const other = new URL(databaseUrl);
  other.username = encodeURIComponent(user);
  other.password = encodeURIComponent(password);
  return other.href;
}

/** Name of a service's database. @param stem URL whose database name is the stem */
export function databaseNameOf(stem: string, owner: string): string {
  return `${decodeURIComponent(new URL(stem).pathname.slice(1))}_${owner}`;
}

export function databaseUrlOf(stem: string, owner: string): string {
  return withDatabase(stem, databaseNameOf(stem, owner));
}

/** The same server, user and options with another database. */
export function withDatabase(url: URL | string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${encodeURIComponent(name)}`;
  return other.href;
}

/** Connects to any existing database, since the named one may not exist yet. */
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
    if (errorCode(error) === duplicateDatabase) return; // created by another stack at the same moment
    throw new StartError(`DATABASE_URL: cannot create the database ${name} (${reasonOf(error)})`);
  }
}

// Marks our roles. The password of another role with the same name must not be changed.
const ours = "a Tollbooth stack's service";

/** Creates the role if missing and tries its login. @returns the problem, if any */
async function ensureLogin(admin: pg.Client, role: string, password: string, url: URL): Promise<string | undefined> {
  const databaseUrl = withLogin(withDatabase(url, role), role, password);
  const known = await admin.query<{ comment: string | null }>(
    "select shobj_description(oid, 'pg_authid') as comment from pg_roles where rolname = $1",
    [role],
  );
  if (known.rowCount !== 0 && (await cannotConnect(databaseUrl)) === undefined) return undefined;
  if (known.rowCount !== 0 && known.rows[0]?.comment !== ours) return `the role ${role} belongs to another application`;
  const name = admin.escapeIdentifier(role);
  const verb = known.rowCount === 0 ? "create" : "alter";
  try {
    await admin.query(`${verb} role ${name} login password ${admin.escapeLiteral(password)}`);
    await admin.query(`comment on role ${name} is ${admin.escapeLiteral(ours)}`);
  } catch (error) {
    return `the role ${role} cannot be created (${reasonOf(error)})`;
  }
  const problem = await cannotConnect(databaseUrl);
  return problem === undefined ? undefined : `the role ${role} cannot log in (${problem})`;
}

async function cannotConnect(databaseUrl: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: connectMsMax });
  try {
    await client.connect();
    return undefined;
  } catch (error) {
    return reasonOf(error);
  } finally {
    await client.end().catch(() => {});
  }
}
