// The sign_in_links table: links by mail, each for one browser and one use.
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { KeyedHash } from "#platform/secrets/vault.ts";
import type { Door } from "../../rules/people/door.ts";

export interface SignInLink {
  readonly id: string;
  readonly door: Door;
  /** Null: nobody has the address. */
  readonly personId: string | null;
  readonly browserHash: Buffer;
  readonly expiresAt: Date;
}

/** Whoever asks for links to this address asks one after the other. */
export async function lockAddress(sql: Sql, emailHash: Buffer): Promise<void> {
  await sql.rows("select pg_advisory_xact_lock($1)", [emailHash.readBigInt64BE().toString()]);
}

/** @param browserHashes only those that this browser asked for; null: all */
export async function countLinks(
  sql: Sql,
  emailHashes: readonly Buffer[],
  browserHashes: readonly Buffer[] | null,
  since: Date,
): Promise<number> {
  const [row] = await sql.rows<{ n: string }>(
    `select count(*) as n from sign_in_links where email_hash = any($1::bytea[]) and created_at > $3
     and ($2::bytea[] is null or browser_hash = any($2::bytea[]))`,
    [emailHashes, browserHashes, since.toISOString()],
  );
  return Number(row?.n ?? 0);
}

export async function insertLink(
  sql: Sql,
  link: SignInLink & { readonly emailHash: Buffer; readonly token: KeyedHash; readonly createdAt: Date },
): Promise<void> {
  await sql.rows(
    `insert into sign_in_links
       (id, door, person_id, email_hash, token_hash, token_hash_key_id, browser_hash, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      link.id,
      link.door,
      link.personId,
      link.emailHash,
      link.token.hash,
      link.token.keyId,
      link.browserHash,
      link.createdAt.toISOString(),
      link.expiresAt.toISOString(),
    ],
  );
}

/** The link with one of these hashes that was not used, locked until the transaction ends. */
export async function lockLink(sql: Sql, hashes: readonly Buffer[]): Promise<SignInLink | undefined> {
  const [row] = await sql.rows<LinkRow>(
    `select id, door, person_id, browser_hash, expires_at from sign_in_links
     where token_hash = any($1::bytea[]) and used_at is null and code_failures <= 5 for update`,
    [hashes],
  );
  if (!row) return undefined;
  const { id, door } = row;
  return { id, door, personId: row.person_id, browserHash: row.browser_hash, expiresAt: parseTime(row.expires_at) };
}

interface LinkRow {
  readonly id: string;
  readonly door: Door;
  readonly person_id: string | null;
  readonly browser_hash: Buffer;
  readonly expires_at: string;
}

/** It works no more, and is still counted as asked for. */
export async function spendLink(sql: Sql, id: string): Promise<void> {
  await sql.rows("update sign_in_links set used_at = now() where id = $1", [id]);
}

export async function recordWrongCodeOfLink(sql: Sql, id: string): Promise<void> {
  await sql.rows("update sign_in_links set code_failures = least(code_failures + 1, 6) where id = $1", [id]);
}

const sweepMax = 1_000;

/** Deletes those that are neither used nor counted any more. @returns true when there may be more */
export async function sweepLinks(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `with over as materialized (
       select id from sign_in_links where created_at <= now() - interval '2 hours'
       order by created_at limit $1 for update skip locked)
     delete from sign_in_links l using over where l.id = over.id returning l.id`,
    [sweepMax],
  );
  return rows.length === sweepMax;
}
