// The console_sessions table, mapped: open sessions only. The look-up by the secret's hash is on the path of every page
// of a console: one statement, with the person.
import { defineEntity, type InferEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { KeyedHash } from "#platform/secrets/vault.ts";
import type { Door } from "../../rules/people/door.ts";
import type { Language } from "../../rules/people/person.ts";
import { idleMsMax } from "../../rules/people/session.ts";

export const ConsoleSessionEntity = defineEntity({
  name: "ConsoleSession",
  tableName: "console_sessions",
  properties: {
    id: p.string().primary(),
    personId: p.string(),
    door: p.string().$type<Door>(),
    secretHash: p.blob(),
    secretHashKeyId: p.string(),
    isFull: p.boolean(),
    provedAt: p.datetime(3).nullable(),
    codeFailures: p.smallint(),
    createdAt: p.datetime(3),
    lastUsedAt: p.datetime(3),
    expiresAt: p.datetime(3),
    address: p.string(),
    agent: p.string(),
  },
});
type Row = InferEntity<typeof ConsoleSessionEntity>;
export type NewSessionRow = Omit<Row, "secretHash" | "secretHashKeyId">;

/** A session with its person and what they can prove themselves by. */
export interface SessionRow {
  readonly id: string;
  readonly door: Door;
  readonly isFull: boolean;
  readonly provedAt: Date | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  /** From where it was begun. */
  readonly address: string;
  readonly agent: string;
  readonly person: SessionPerson;
  readonly hasAuthenticator: boolean;
  /** The hosts that the person has passkeys for. */
  readonly passkeyHosts: readonly string[];
}

export interface SessionPerson {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly language: Language;
}

interface FoundRow {
  id: string;
  door: Door;
  is_full: boolean;
  proved_at: string | null;
  created_at: string;
  last_used_at: string;
  expires_at: string;
  address: string;
  agent: string;
  person_id: string;
  email: string;
  name: string;
  language: Language;
  has_authenticator: boolean;
  passkey_hosts: string[];
}

/** The session with one of these hashes, over or not. */
export async function findSessionByHash(sql: Sql, hashes: readonly Buffer[]): Promise<SessionRow | undefined> {
  const [row] = await sql.rows<FoundRow>(
    `select s.id, s.door, s.is_full, s.proved_at, s.created_at, s.last_used_at, s.expires_at, s.address, s.agent,
       p.id as person_id, p.email, p.name, p.language,
       exists (select from authenticators a where a.person_id = p.id and a.confirmed_at is not null) as has_authenticator,
       array(select distinct k.rp_id from passkeys k where k.person_id = p.id) as passkey_hosts
     from console_sessions s join persons p on p.id = s.person_id where s.secret_hash = any($1::bytea[])`,
    [hashes],
  );
  return row && sessionOf(row);
}

export async function insertSession(em: SqlEntityManager, session: NewSessionRow, secret: KeyedHash): Promise<void> {
  await em.insert(ConsoleSessionEntity, { ...session, secretHash: secret.hash, secretHashKeyId: secret.keyId });
}

export async function recordSessionUse(sql: Sql, id: string, at: Date): Promise<void> {
  await sql.rows("update console_sessions set last_used_at = greatest(last_used_at, $2) where id = $1", [
    id,
    at.toISOString(),
  ]);
}

/** The session is full and proved from now on, under a new secret. @returns false: it ended meanwhile */
export async function fillSession(sql: Sql, id: string, secret: KeyedHash, provedAt: Date): Promise<boolean> {
  const rows = await sql.rows(
    `update console_sessions
     set is_full = true, proved_at = $2, secret_hash = $3, secret_hash_key_id = $4 where id = $1 returning id`,
    [id, provedAt.toISOString(), secret.hash, secret.keyId],
  );
  return rows.length === 1;
}

/** @returns false: it ended meanwhile */
export async function proveSession(sql: Sql, id: string, provedAt: Date): Promise<boolean> {
  const rows = await sql.rows(
    "update console_sessions set proved_at = $2, code_failures = 0 where id = $1 and is_full returning id",
    [id, provedAt.toISOString()],
  );
  return rows.length === 1;
}

/** @returns how many wrong codes there were in the session */
export async function recordWrongCode(sql: Sql, id: string): Promise<number> {
  const rows = await sql.rows<{ failures: number }>(
    `update console_sessions set code_failures = least(code_failures + 1, 6) where id = $1 returning code_failures as failures`,
    [id],
  );
  return rows[0]?.failures ?? 0;
}

/** Of both doors, those that are not over, the last used first. */
export function sessionsOf(em: SqlEntityManager, personId: string, now: Date): Promise<Row[]> {
  const idleSince = new Date(now.getTime() - idleMsMax);
  const open = { personId, expiresAt: { $gt: now }, lastUsedAt: { $gt: idleSince } };
  return em.find(ConsoleSessionEntity, open, { orderBy: { lastUsedAt: "desc", id: "desc" }, limit: sessionsMax });
}

/** @returns false: it ended before */
export async function deleteSession(em: SqlEntityManager, id: string): Promise<boolean> {
  return (await em.nativeDelete(ConsoleSessionEntity, { id })) === 1;
}

export async function deleteSessionsOf(em: SqlEntityManager, personId: string): Promise<void> {
  await em.nativeDelete(ConsoleSessionEntity, { personId });
}

// More than anybody has devices; the list shows no more.
const sessionsMax = 100;
const sweepMax = 1_000;

/** @returns true when there may be more */
export async function sweepSessions(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `with over as materialized (
       select id from console_sessions
       where expires_at <= now() or last_used_at <= now() - make_interval(secs => $1)
       order by expires_at limit $2 for update skip locked)
     delete from console_sessions s using over where s.id = over.id returning s.id`,
    [idleMsMax / 1_000, sweepMax],
  );
  return rows.length === sweepMax;
}

function sessionOf(row: FoundRow): SessionRow {
  return {
    id: row.id,
    door: row.door,
    isFull: row.is_full,
    provedAt: parseTime(row.proved_at),
    createdAt: parseTime(row.created_at),
    lastUsedAt: parseTime(row.last_used_at),
    expiresAt: parseTime(row.expires_at),
    address: row.address,
    agent: row.agent,
    person: { id: row.person_id, email: row.email, name: row.name, language: row.language },
    hasAuthenticator: row.has_authenticator,
    passkeyHosts: row.passkey_hosts,
  };
}
