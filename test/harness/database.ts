// A database of its own for each test, in milliseconds: copied from a template that was migrated once in this run.
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { Database } from "#platform/database/database.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { migrateDatabase } from "../../deploy/cli/setup/migrate-database.ts";
import { withLogin } from "../../deploy/local/databases.ts";
import type { Source } from "../../services/services.ts";
import { eventually } from "./eventually.ts";
import { sharedInfra } from "./infra.ts";

/** A database for one test file. */
export interface TestDatabase {
  name: string;
  /** Superuser URL, for a test's own set-up and checks. */
  url: string;
  /** With the login of the service, which owns nothing. Of an empty database: superuser URL too. */
  serviceUrl: string;
  /** Removes it, also with clients still connected. The servers of a run are thrown away, so most tests need not. */
  drop(): Promise<void>;
}

/** Every merchant of a test pays a fee, so that no sum is right by chance; as if an operator had set it long ago. */
const feesOfAll = `set session_replication_role = replica;
  insert into fee_schedules (merchant_id, currency, connector, effective_from, basis_points, fixed_amount, operator)
  values ('*', '*', '*', '2000-01-01', 290, 30, 'test')`;

const templateLock = 7_655_300; // any number that is not locked elsewhere in this server
const copyMsMax = 20_000; // 40 ms; the rest is waiting for the last client of the template to be gone

/**
 * Makes a database.
 * @param service its tables are there; absent: the database is empty
 */
export async function freshDatabase(service?: Source): Promise<TestDatabase> {
  const name = `test_${service ?? "empty"}_${randomBytes(6).toString("hex")}`;
  await asAdmin(async (admin) => {
    const template = service === undefined ? "template0" : await migratedTemplate(admin, service);
    await copyDatabase(admin, name, template);
  });
  const url = await urlOf(name);
  return {
    name,
    url,
    serviceUrl: service === undefined ? url : await serviceLogin(url, service),
    drop: () => asAdmin(async (admin) => void (await admin.query(`drop database if exists ${name} with (force)`))),
  };
}

/** The test's own access, closed by the test. Logs nothing below fatal. */
export async function openDatabase(url: string): Promise<Database> {
  return await Database.open({ url, name: "test", log: createLog("test", "fatal") });
}

/** A test's own pool. Ignores the errors of connections that the dropped database ends after the pool's end. */
export function testPool(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max });
  pool.on("connect", (client) => void client.on("error", () => {}));
  return pool;
}

/**
 * The services' databases of a stack, migrated before it starts: its own migration has only the roles' rights to give.
 * @param stem the databases are named `<stem>_<service>`
 */
export async function stackDatabases(stem: string, services: readonly Source[]): Promise<void> {
  await asAdmin(async (admin) => {
    for (const service of services)
      await copyDatabase(admin, `${stem}_${service}`, await migratedTemplate(admin, service));
  });
}

/** The services' logins on the run's server, as the migrate command names them. */
export const serviceRoles = "test_{service}";
const rolePassword = "test";

const roleOf = (service: Source) => serviceRoles.replace("{service}", service);

/** The database as the service sees it, once it is migrated. */
export async function serviceLogin(databaseUrl: string, service: Source): Promise<string> {
  if (!ensured.has(service)) await asAdmin((admin) => ensureRole(admin, service));
  return withLogin(databaseUrl, roleOf(service), rolePassword);
}

/** Roles that exist, as this process knows: to look again takes a connection, 20 ms of CPU. */
const ensured = new Set<Source>();

/** Test files that need it at the same time may both try. */
async function ensureRole(admin: pg.Client, service: Source): Promise<void> {
  const madeAtTheSameTime = ["42710", "23505"];
  const known = await admin.query("select from pg_roles where rolname = $1", [roleOf(service)]);
  if (known.rowCount === 0) {
    await admin.query(`create role ${roleOf(service)} login password '${rolePassword}'`).catch((error) => {
      if (!madeAtTheSameTime.includes(error.code)) throw error;
    });
  }
  ensured.add(service);
}

async function asAdmin<T>(work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: (await sharedInfra()).databaseUrl });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

async function urlOf(database: string): Promise<string> {
  const url = new URL((await sharedInfra()).databaseUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** The template gets its name when it is whole; test files that need it at the same time wait for the first one. */
async function migratedTemplate(admin: pg.Client, service: Source): Promise<string> {
  const name = `template_${service}_${schemaHash(service)}`;
  await admin.query("select pg_advisory_lock($1)", [templateLock]);
  try {
    const known = await admin.query("select 1 from pg_database where datname = $1", [name]);
    if (known.rowCount === 0) {
      const unfinished = `${name}_unfinished`;
      await admin.query(`drop database if exists ${unfinished} with (force)`);
      await admin.query(`create database ${unfinished} template template0`);
      await ensureRole(admin, service);
      await migrateDatabase({ databaseUrl: await urlOf(unfinished), service, serviceRole: roleOf(service) });
      if (service === "payments") await inDatabase(await urlOf(unfinished), feesOfAll);
      await whenUnused("the migrated template to be left by its clients", () =>
        admin.query(`alter database ${unfinished} rename to ${name}`),
      );
    }
  } finally {
    await admin.query("select pg_advisory_unlock($1)", [templateLock]);
  }
  return name;
}

/**
 * Names the state of the migration files and of what is granted: a server that outlives the run keeps no outdated
 * template.
 */
function schemaHash(service: Source): string {
  const hash = createHash("sha256").update(feesOfAll);
  const services = join(import.meta.dirname, "../../services");
  for (const folder of [join(services, "platform/database/schema"), join(services, service, "store/schema")]) {
    for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(join(folder, file)));
  }
  hash.update(readFileSync(join(import.meta.dirname, "../../deploy/cli/setup/rights.ts")));
  return hash.digest("hex").slice(0, 12);
}

async function copyDatabase(admin: pg.Client, name: string, template: string): Promise<void> {
  await whenUnused(`${template} to be free for a copy`, () =>
    admin.query(`create database ${name} template ${template} strategy file_copy`),
  );
}

/** Retries, because PostgreSQL copies and renames a database only without connections, and they end with a delay. */
async function whenUnused(what: string, attempt: () => Promise<unknown>): Promise<void> {
  const objectInUse = "55006";
  const failure = await eventually(
    what,
    async () => {
      try {
        await attempt();
        return { done: true };
      } catch (error) {
        const isBusy = error instanceof Error && "code" in error && error.code === objectInUse;
        return isBusy ? undefined : { done: false, error };
      }
    },
    { limitMs: copyMsMax },
  );
  if (!failure.done) throw failure.error;
}

/** One statement, as the URL's login. */
export async function inDatabase<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
