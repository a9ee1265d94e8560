// Grants a service's role what it needs: reading and writing rows. The role owns nothing, so it cannot truncate, alter
// or drop a table, disable a trigger, or shadow tables that a rule reads. Granting again changes nothing; extra rights
// are revoked.
import type pg from "pg";

/** The role is unsuitable. */
export class RoleRefused extends Error {}

interface RoleGrant {
  readonly role: string;
  /** Tables on which it may not change or delete rows. */
  readonly appendOnly: readonly string[];
}

// Needed to vacuum after folding list counts; before PostgreSQL 17 only the table's owner may.
const vacuumed = "list_deltas";
const maintainSince = 170_000;

// Partitions need no rights of their own, nor do identity columns for their sequence.
const tablesText = `
  select c.relname as table, c.relkind = 'v' as "isView", array(
    select lower(a.privilege_type) from aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee where r.rolname = $1) as rights
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by c.relname`;

// Migrations close functions that run as their owner; all others are open to everyone.
const functionsText = `
  select p.oid::regprocedure::text as name from pg_proc p
  where p.pronamespace = 'public'::regnamespace and p.prosecdef and not has_function_privilege($1, p.oid, 'execute')
    and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')`;

// Anyone may create a temporary table or type, and it shadows ours unless pg_temp is last in the search path. Functions
// of triggers and constraints decide which rows are allowed.
const unguardedText = `
  select p.oid::regprocedure::text as name, current_user as owner, pg_has_role(p.proowner, 'usage') as "isOurs", exists (
      select from pg_depend d where d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid
        and d.classid in ('pg_trigger'::regclass, 'pg_constraint'::regclass)) as decides
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace and p.prokind in ('f', 'p')
    and not coalesce(p.proconfig::text like '%search_path=%', false)
    and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')`;

/** Runs in a transaction of the tables' owner. @throws RoleRefused for an unsuitable role */
export async function grantRights(client: pg.Client, grant: RoleGrant): Promise<void> {
  await refuseUnfit(client, grant.role);
  const role = client.escapeIdentifier(grant.role);
  await client.query(`revoke create on schema public from public, ${role}`);
  await client.query(`grant usage on schema public to ${role}`);
  const version = await client.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  );
  const hasMaintain = (version.rows[0]?.version ?? 0) >= maintainSince;
  const { rows } = await client.query<{ table: string; isView: boolean; rights: string[] }>(tablesText, [grant.role]);
  for (const { table, isView, rights } of rows) {
    const wanted = isView ? ["select"] : rightsOn(table, grant.appendOnly, hasMaintain);
    if (sameSet(wanted, rights)) continue;
    const name = client.escapeIdentifier(table);
    await client.query(`revoke all on ${name} from ${role}`);
    await client.query(`grant ${wanted.join(", ")} on ${name} to ${role}`);
  }
  await guardNames(client);
  const closed = await client.query<{ name: string }>(functionsText, [grant.role]);
  for (const { name } of closed.rows) await client.query(`grant execute on function ${name} to ${role}`);
}

interface UnguardedRoutine {
  readonly name: string;
  /** The migrating role. */
  readonly owner: string;
  readonly isOurs: boolean;
  readonly decides: boolean;
}

/** @throws RoleRefused when another role owns a function that decides which rows are allowed */
async function guardNames(client: pg.Client): Promise<void> {
  const { rows } = await client.query<UnguardedRoutine>(unguardedText);
  for (const { name, owner, isOurs, decides } of rows) {
    if (isOurs) await client.query(`alter routine ${name} set search_path = public, pg_temp`);
    else if (decides)
      throw new RoleRefused(
        `the function ${name} is owned by another role; run: alter routine ${name} owner to "${owner}"`,
      );
  }
}

function rightsOn(table: string, appendOnly: readonly string[], hasMaintain: boolean): string[] {
  if (table === "schema_migrations") return ["select"];
  if (appendOnly.includes(table)) return ["select", "insert"];
  const rows = ["select", "insert", "update", "delete"];
  return table === vacuumed && hasMaintain ? [...rows, "maintain"] : rows;
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each) => other.includes(each));
}

/** A role that is the owner, or may become it, could grant itself everything. */
async function refuseUnfit(client: pg.Client, role: string): Promise<void> {
  const { rows } = await client.query<{ owner: string; mayBeOwner: boolean }>(
    `select current_user as owner, pg_has_role(oid, current_user, 'member') as "mayBeOwner" from pg_roles where rolname = $1`,
    [role],
  );
  const [found] = rows;
  if (!found) throw new RoleRefused(`the role ${role} is missing: create it, with a password for its service`);
  if (found.mayBeOwner)
    throw new RoleRefused(
      `the role ${role} may act as ${found.owner}, which migrates: services need a role that cannot`,
    );
}
