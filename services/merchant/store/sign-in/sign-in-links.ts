// The sign_in_links table: mailed links, each for one browser and one use.
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { KeyedHash } from "#platform/secrets/vault.ts";
import type { Door } from "../../rules/people/door.ts";
import { deleteBatch, type Stored } from "../rows.ts";

export interface SignInLink {
  readonly id: string;
  readonly door: Door;
  /** Null for an unknown address. */
  readonly personId: string | null;
  readonly browserHash: Buffer;
  readonly expiresAt: Date;
}

/** Serializes requests for links to this address. */
export async function lockAddress(sql: Sql, emailHash: Buffer): Promise<void> {
  await sql.rows("select pg_advisory_xact_lock($1)", [emailHash.readBigInt64BE().toString()]);
}

/** @param browserHashes counts only links of this browser; null for all */
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

/** Locks the unused link with one of these hashes. */
export async function lockLink(sql: Sql, hashes: readonly Buffer[]): Promise<SignInLink | undefined> {
  const [row] = await sql.rows<Stored<SignInLink>>(
    `select id, door, person_id as "personId", browser_hash as "browserHash", expires_at as "expiresAt"
     from sign_in_links
     where token_hash = any($1::bytea[]) and used_at is null and code_failures <= 5 for update`,
    [hashes],
  );
  return row && { ...row, expiresAt: parseTime(row.expiresAt) };
}

/** A used link still counts towards the limit. */
export async function spendLink(sql: Sql, id: string): Promise<void> {
  await sql.rows("update sign_in_links set used_at = now() where id = $1", [id]);
}

export async function recordWrongCodeOfLink(sql: Sql, id: string): Promise<void> {
  await sql.rows("update sign_in_links set code_failures = least(code_failures + 1, 6) where id = $1", [id]);
}

/** Deletes links that are neither valid nor counted any more. @returns true if there may be more */
export function sweepLinks(sql: Sql): Promise<boolean> {
  return deleteBatch(sql, "sign_in_links", "created_at <= now() - interval '2 hours' order by created_at");
}
