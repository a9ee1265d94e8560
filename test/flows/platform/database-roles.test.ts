// Rights of the services' roles: they read and write rows, and only insert into append-only tables. The run's stack
// uses these roles, so every other test proves that they suffice.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import pg from "pg";
import { migrateDatabase } from "../../../deploy/cli/setup/migrate-database.ts";
import { RoleRefused } from "../../../deploy/cli/setup/rights.ts";
import { createDatabases, withDatabase, withLogin } from "../../../deploy/local/databases.ts";
import { appendOnlyTables, type Source, sources } from "../../../services/services.ts";
import { firstDeliveryIdOf } from "../../../services/webhook/store/partitions.ts";
import { freshDatabase, serviceRoles, type TestDatabase } from "../../harness/database.ts";
import { sharedInfra } from "../../harness/infra.ts";
import { sharedStack } from "../../harness/stack.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("roles of the databases", { timeoutMs: 60_000 });
const insufficientPrivilege = "42501";
const databases = new Map<Source, TestDatabase>();

test.before(async () => {
  for (const service of sources) databases.set(service, await freshDatabase(service));
});
test.after(async () => {
  for (const database of databases.values()) await database.drop();
});

const databaseOf = (service: Source): TestDatabase => {
  const database = databases.get(service);
  assert.ok(database);
  return database;
};

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const asService = <T>(service: Source, work: (client: pg.Client) => Promise<T>) =>
  connected(databaseOf(service).serviceUrl, work);

/** The statement fails by a missing privilege, not by a trigger or its content. */
async function isForbidden(client: pg.Client, statement: string): Promise<void> {
  await assert.rejects(client.query(statement), { code: insufficientPrivilege }, statement);
}

async function tablesOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 1",
  );
  assert.ok(rows.length > 5);
  return rows.map(({ name }) => name);
}

// A session's temporary types and tables shadow ours, unless a function sets its search_path.
const ownText = [
  "create type pg_temp.text as enum ('x')",
  "create function pg_temp.hush(pg_catalog.text) returns pg_temp.text language sql immutable as 'select null::pg_temp.text'",
  "create function pg_temp.show(pg_temp.text) returns pg_catalog.text language sql immutable as $$select ''::pg_catalog.text$$",
  "create cast (pg_catalog.text as pg_temp.text) with function pg_temp.hush(pg_catalog.text) as assignment",
  "create cast (pg_temp.text as pg_catalog.text) with function pg_temp.show(pg_temp.text) as implicit",
];
const ownApproval = [
  `create temp table journal_adjustments as
   select 'adj_x'::text as id, 'approved'::text as state, 'm'::text as merchant_id, 1::smallint as environment`,
  `create temp table journal_adjustment_lines as select 'adj_x'::text as adjustment_id, 0 as position, 'EUR'::text as currency,
   'adjustments'::text as debit, 'merchant_balance'::text as credit, 900000::bigint as amount`,
];

const refusedRule = { code: "23514" };
const intoJournal =
  "insert into journal (merchant_id, environment, currency, payment_id, kind, cause, occurrence, debit, credit, amount) values";

test("no role but the service's runs a function that acts as the owner of the tables", async () => {
  let found = 0;
  for (const service of sources) {
    const { rows } = await asService(service, (client) =>
      client.query<{ name: string; open: boolean; ours: boolean }>(
        `select proname as name, has_function_privilege('public', oid, 'execute') as open,
           has_function_privilege(oid, 'execute') as ours
         from pg_proc where prosecdef and pronamespace = 'public'::regnamespace`,
      ),
    );
    for (const { name, ...rights } of rows) assert.deepEqual(rights, { open: false, ours: true }, `${service} ${name}`);
    found += rows.length;
  }
  assert.ok(found >= 8);
});

test("a payments session cannot bypass row rules with temporary types", () =>
  asService("payments", async (client) => {
    for (const statement of ownText) await client.query(statement);
    const line = `${intoJournal} ('m', 1, 'EUR', 'pay_x', 'captured', 'c', 0, 'nowhere', 'nowhere', -500)`;
    await assert.rejects(client.query(line), refusedRule);
  }));

test("a payments session cannot forge an approval with temporary tables", () =>
  asService("payments", async (client) => {
    for (const statement of ownApproval) await client.query(statement);
    const line = `${intoJournal} ('m', 1, 'EUR', null, 'adjusted', 'adj_x', 0, 'adjustments', 'merchant_balance', 900000)`;
    await assert.rejects(client.query(line), refusedRule);
  }));

test("migrate works under any role name and resets the search_path of row rules", async () => {
  for (const owner of ["Mixed.Case@Owner", "42"]) {
    const database = await freshDatabase();
    const role = `"${owner} ${randomBytes(4).toString("hex")}"`;
    await connected(database.url, async (admin) => {
      await admin.query(`create role ${role} login superuser password 'test'`);
      const service = "payments";
      const serviceRole = serviceRoles.replace("{service}", service);
      const databaseUrl = withLogin(database.url, role.slice(1, -1), "test");
      await migrateDatabase({ databaseUrl, service, serviceRole });
      await admin.query("alter function adjusted_row_is_approved() reset search_path");
      await admin.query(
        "create procedure tidy() language sql as 'select'; create aggregate own_sum(int) (sfunc = int4pl, stype = int)",
      );
      await migrateDatabase({ databaseUrl, service, serviceRole });
      const { rows } = await admin.query(
        "select from pg_proc where proname in ('adjusted_row_is_approved', 'tidy') and proconfig is null",
      );
      assert.deepEqual(rows, []);
    });
    await database.drop();
    await connected(databaseOf("payments").url, (admin) => admin.query(`drop role ${role}`));
  }
});

test("migrate stops while another role owns a row rule, and names the remedy", async () => {
  const database = await freshDatabase("payments");
  const owner = `owner_${randomBytes(4).toString("hex")}`;
  await connected(database.url, async (admin) => {
    await admin.query(`create role ${owner} login password 'test'`);
    const { rows } = await admin.query<{ name: string }>(
      "select oid::regclass::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
    );
    for (const { name } of rows) await admin.query(`alter table ${name} owner to ${owner}`);
    await admin.query(`alter schema public owner to ${owner}; alter function own_dispute() reset search_path`);
    const service = "payments";
    const databaseUrl = withLogin(database.url, owner, "test");
    const again = () =>
      migrateDatabase({ databaseUrl, service, serviceRole: serviceRoles.replace("{service}", service) });
    await assert.rejects(
      again(),
      new RegExp(
        `own_dispute\\(\\) is owned by another role; run: alter routine own_dispute\\(\\) owner to "${owner}"`,
      ),
    );
    await admin.query(`alter routine own_dispute() owner to "${owner}"`);
    await again();
    await admin.query(`reassign owned by ${owner} to current_user; drop owned by ${owner}`);
  });
  await database.drop();
  await connected(databaseOf("payments").url, (admin) => admin.query(`drop role ${owner}`));
});

for (const service of sources) {
  test(`every function in the database of ${service} sets its search_path`, () =>
    connected(databaseOf(service).url, async (admin) => {
      const { rows } = await admin.query(
        `select proname from pg_proc p where pronamespace = 'public'::regnamespace and not ('search_path=public, pg_temp' = any (coalesce(proconfig, '{}')))
           and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')`,
      );
      assert.deepEqual(rows, []);
    }));

  test(`the ${service} service owns nothing`, () =>
    connected(databaseOf(service).url, async (admin) => {
      // In any database of the server.
      const { rows } = await admin.query("select from pg_shdepend where refobjid = $1::regrole and deptype = 'o'", [
        serviceRoles.replace("{service}", service),
      ]);
      assert.equal(rows.length, 0);
    }));

  test(`the ${service} service cannot create, alter, truncate or drop a table, or change the migrations`, () =>
    asService(service, async (client) => {
      for (const table of await tablesOf(client)) {
        await isForbidden(client, `truncate ${table}`);
        await isForbidden(client, `alter table ${table} add column mine text`);
        await isForbidden(client, `alter table ${table} disable trigger user`);
        await isForbidden(client, `drop table ${table}`);
      }
      await isForbidden(client, "create table mine ()");
      await isForbidden(client, "create function mine() returns int language sql as 'select 1'");
      await isForbidden(client, "delete from schema_migrations");
      await isForbidden(client, "insert into schema_migrations values ('later', '', now())");
    }));

  test(`the ${service} service may write all tables, and only insert into append-only ones`, () =>
    asService(service, async (client) => {
      const { rows } = await client.query<{ name: string; rights: string[] }>(
        `select relname as name, array(select word from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES',
           'TRIGGER']) as word where has_table_privilege(oid, word)) as rights
         from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
      );
      const rightsOf = new Map(rows.map(({ name, rights }) => [name, rights.join(" ")]));
      assert.equal(rightsOf.get("schema_migrations"), "SELECT");
      rightsOf.delete("schema_migrations");
      for (const name of appendOnlyTables[service]) {
        assert.equal(rightsOf.get(name), "SELECT INSERT", name);
        rightsOf.delete(name);
      }
      assert.ok(rightsOf.size > 0);
      for (const [name, rights] of rightsOf) assert.equal(rights, "SELECT INSERT UPDATE DELETE", name);
    }));
}

test("the functions for daily tables accept only a day and a known table", async () => {
  const refused = { code: "22023" };
  await asService("webhook", async (client) => {
    const day = "2030-01-02";
    await client.query("select make_partition('deliveries', $1), make_partition('attempts', $1)", [day]);
    const { rows } = await client.query<{ bound: string }>(
      "select pg_get_expr(relpartbound, oid) as bound from pg_class where relname ~ '_20300102$' order by relname",
    );
    assert.deepEqual(
      rows.map(({ bound }) => bound),
      [
        "FOR VALUES FROM ('2030-01-02 00:00:00+00') TO ('2030-01-03 00:00:00+00')",
        `FOR VALUES FROM ('${firstDeliveryIdOf(Date.UTC(2030, 0, 2))}') TO ('${firstDeliveryIdOf(Date.UTC(2030, 0, 3))}')`,
      ],
    );
    await client.query("select drop_partition('deliveries', $1), drop_partition('attempts', $1)", [day]);
    for (const name of ["endpoints", "attempts; drop table endpoints", "deliveries_20300102", null])
      for (const verb of ["make", "drop"])
        await assert.rejects(client.query(`select ${verb}_partition($1, $2)`, [name, day]), refused, String(name));
    for (const wrong of ["1999-01-01", "infinity", null])
      await assert.rejects(client.query("select make_partition('attempts', $1)", [wrong]), refused, String(wrong));
  });
  await asService("merchant", async (client) => {
    await client.query("select make_request_day('2030-01-02')");
    const { rows } = await client.query<{ bound: string }>(
      "select pg_get_expr(relpartbound, oid) as bound from pg_class where relname = 'api_requests_2030_01_02'",
    );
    const firstId = (day: number) => firstDeliveryIdOf(Date.UTC(2030, 0, day)).replace("whd_", "req_");
    assert.equal(rows[0]?.bound, `FOR VALUES FROM ('${firstId(2)}') TO ('${firstId(3)}')`);
    await client.query("select drop_request_day('2030-01-02')");
    for (const wrong of ["1999-01-01", "infinity", null])
      await assert.rejects(client.query("select make_request_day($1)", [wrong]), refused, String(wrong));
  });
});

test("dropping a daily table fails immediately while it is being read", () =>
  connected(databaseOf("webhook").url, async (reader) => {
    await asService("webhook", async (client) => {
      await client.query("select make_partition('deliveries', '2030-02-01')");
      await reader.query("begin; select from deliveries");
      await assert.rejects(client.query("select drop_partition('deliveries', '2030-02-01')"), { code: "55P03" });
      await reader.query("rollback");
      await client.query("select drop_partition('deliveries', '2030-02-01')");
    });
  }));

test("migrating again revokes extra rights and grants missing ones", async () => {
  const serviceRole = serviceRoles.replace("{service}", "checkout");
  const { url, serviceUrl } = databaseOf("checkout");
  await connected(url, (admin) =>
    admin.query(`grant truncate on sessions to ${serviceRole}; revoke insert on sessions from ${serviceRole};
      grant create on schema public to ${serviceRole}`),
  );
  assert.deepEqual(await migrateDatabase({ databaseUrl: url, service: "checkout", serviceRole }), { applied: [] });
  await connected(serviceUrl, async (client) => {
    await isForbidden(client, "truncate sessions");
    await isForbidden(client, "create table mine ()");
    const { rows } = await client.query("select has_table_privilege('sessions', 'insert') as may");
    assert.deepEqual(rows, [{ may: true }]);
  });
});

test("a role that is missing, or may act as the owner, is refused by name", async () => {
  const { url } = databaseOf("checkout");
  const granting = (serviceRole: string) => migrateDatabase({ databaseUrl: url, service: "checkout", serviceRole });
  await assert.rejects(
    granting("missing_role"),
    (error) => error instanceof RoleRefused && /missing/.test(error.message),
  );
  const owner = decodeURIComponent(new URL(url).username);
  await assert.rejects(granting(owner), (error) => error instanceof RoleRefused && /may act as/.test(error.message));
});

test("the running services log in as roles that own nothing", async () => {
  const { database } = await sharedStack();
  await connected(database, async (admin) => {
    const stem = new URL(database).pathname.slice(1);
    const { rows } = await admin.query<{ name: string; user: string }>(
      `select distinct application_name as name, usename as user from pg_stat_activity
       where application_name like 'tollbooth-%' and datname like $1 || '\\_%' and application_name <> 'tollbooth-migrate'`,
      [stem],
    );
    const users = new Map(rows.map(({ name, user }) => [name, user]));
    for (const service of sources) assert.equal(users.get(`tollbooth-${service}`), `${stem}_${service}`);
  });
});

test("without the right to create roles one login is used for all services, with one log line", async () => {
  const { databaseUrl } = await sharedInfra();
  const name = `plain_${randomBytes(4).toString("hex")}`;
  await connected(databaseUrl, (admin) => admin.query(`create role ${name} login createdb password 'plain'`));
  const logged: string[] = [];
  const plainUrl = withLogin(withDatabase(databaseUrl, name), name, "plain");
  const made = await createDatabases(plainUrl, "secret", (line) => logged.push(line));
  try {
    assert.equal(logged.length, 1);
    assert.match(logged[0] ?? "", /services log in as the owner of their tables: the role .* cannot be created/);
    assert.equal(made.roles, undefined);
    const { simulator, ...owned } = made.of;
    assert.deepEqual(made.usedBy, owned);
    await migrateDatabase({ databaseUrl: made.usedBy.checkout, service: "checkout" });
  } finally {
    const left = [name, ...Object.keys(made.of).map((owner) => `${name}_${owner}`)];
    await connected(databaseUrl, async (admin) => {
      for (const database of left) await admin.query(`drop database ${database} with (force)`);
      await admin.query(`drop role ${name}`);
    });
  }
});

test("an existing role of the same name keeps its password", async () => {
  const { databaseUrl } = await sharedInfra();
  const name = `taken_${randomBytes(4).toString("hex")}`;
  await connected(databaseUrl, (admin) => admin.query(`create role ${name}_payments login password 'theirs'`));
  const logged: string[] = [];
  const made = await createDatabases(withDatabase(databaseUrl, name), "ours", (line) => logged.push(line));
  assert.match(logged.join(), /the role taken_\w+_payments belongs to another application/);
  await connected(withLogin(made.of.payments, `${name}_payments`, "theirs"), (client) => client.query("select 1"));
  assert.deepEqual([made.roles, logged.length], [undefined, 1]);
});

test.run();
