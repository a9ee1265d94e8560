// The console_sessions table. Every page of a console looks a session up by its secret's hash: one statement reads it
// with its person.
import { defineEntity, type InferEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { KeyedHash } from "#platform/secrets/vault.ts";
import type { Door } from "../../rules/people/door.ts";
import type { Language } from "../../rules/people/person.ts";
import { idleMsMax } from "../../rules/people/session.ts";
import { deleteBatch, type Stored } from "../rows.ts";

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
type NewSessionRow = Omit<Row, "secretHash" | "secretHashKeyId">;

export interface SessionRow {
  readonly id: string;
  readonly door: Door;
  readonly isFull: boolean;
  readonly provedAt: Date | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  readonly address: string;
  readonly agent: string;
  readonly person: SessionPerson;
  readonly hasAuthenticator: boolean;
  readonly passkeyHosts: readonly string[];
}

export interface SessionPerson {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly language: Language;
}

type FoundRow = Stored<Omit<SessionRow, "person">> & Omit<SessionPerson, "id"> & { readonly personId: string };

/** The session with one of these hashes, even if it has expired. */
export async function findSessionByHash(sql: Sql, hashes: readonly Buffer[]): Promise<SessionRow | undefined> {
  const [row] = await sql.rows<FoundRow>(
    `select s.id, s.door, s.is_full as "isFull", s.proved_at as "provedAt", s.created_at as "createdAt",
       s.last_used_at as "lastUsedAt", s.expires_at as "expiresAt", s.address, s.agent,
       p.id as "personId", p.email, p.name, p.language,
       exists (select from authenticators a where a.person_id = p.id and a.confirmed_at is not null) as "hasAuthenticator",
       array(select distinct k.rp_id from passkeys k where k.person_id = p.id) as "passkeyHosts"
     from console_sessions s join persons p on p.id = s.person_id where s.secret_hash = any($1::bytea[])`,
    [hashes],
  );
  if (!row) return undefined;
  const { personId, email, name, language, ...session } = row;
  return {
    ...session,
    provedAt: parseTime(row.provedAt),
    createdAt: parseTime(row.createdAt),
    lastUsedAt: parseTime(row.lastUsedAt),
    expiresAt: parseTime(row.expiresAt),
    person: { id: personId, email, name, language },
  };
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

/** Makes the session full and proved under a new secret. @returns false if it has ended */
export async function fillSession(sql: Sql, id: string, secret: KeyedHash, provedAt: Date): Promise<boolean> {
  const rows = await sql.rows(
    `update console_sessions
     set is_full = true, proved_at = $2, secret_hash = $3, secret_hash_key_id = $4 where id = $1 returning id`,
    [id, provedAt.toISOString(), secret.hash, secret.keyId],
  );
  return rows.length === 1;
}

/** @returns false if it has ended */
export async function proveSession(sql: Sql, id: string, provedAt: Date): Promise<boolean> {
  const rows = await sql.rows(
    "update console_sessions set proved_at = $2, code_failures = 0 where id = $1 and is_full returning id",
    [id, provedAt.toISOString()],
  );
  return rows.length === 1;
}

/** @returns the session's wrong codes so far */
export async function recordWrongCode(sql: Sql, id: string): Promise<number> {
  const rows = await sql.rows<{ failures: number }>(
    `update console_sessions set code_failures = least(code_failures + 1, 6) where id = $1 returning code_failures as failures`,
    [id],
  );
  return rows[0]?.failures ?? 0;
}

/** Open sessions of both consoles, last used first. */
export function sessionsOf(em: SqlEntityManager, personId: string, now: Date): Promise<Row[]> {
  const idleSince = new Date(now.getTime() - idleMsMax);
  const open = { personId, expiresAt: { $gt: now }, lastUsedAt: { $gt: idleSince } };
  return em.find(ConsoleSessionEntity, open, { orderBy: { lastUsedAt: "desc", id: "desc" }, limit: sessionsMax });
}

/** @returns false if it had ended before */
export async function deleteSession(em: SqlEntityManager, id: string): Promise<boolean> {
  return (await em.nativeDelete(ConsoleSessionEntity, { id })) === 1;
}

export async function deleteSessionsOf(em: SqlEntityManager, personId: string): Promise<void> {
  await em.nativeDelete(ConsoleSessionEntity, { personId });
}

// More than a person has devices.
const sessionsMax = 100;

/** @returns true if there may be more */
export function sweepSessions(sql: Sql): Promise<boolean> {
  const isIdle = `last_used_at <= now() - interval '${idleMsMax / 1_000} seconds'`;
  return deleteBatch(sql, "console_sessions", `expires_at <= now() or ${isIdle} order by expires_at`);
}
