// The api_keys table. The lookup by hash is a hot path: every request that no gateway has cached.
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { KeyedHash } from "#platform/secrets/vault.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantStatus } from "../rules/profile.ts";
import type { Stored } from "./rows.ts";

export interface ApiKey {
  readonly id: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly name: string;
  readonly suffix: string;
  readonly scopes: readonly string[];
  /** In canonical form (rules/allowed-ips.ts); an empty list allows every address. */
  readonly allowedIps: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

const columns = `k.id, k.merchant_id as "merchantId", k.environment, k.name, k.suffix, k.scopes,
  k.allowed_ips as "allowedIps", k.created_at as "createdAt", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
  k.last_used_at as "lastUsedAt"`;

/** A key of any status with one of these hashes, its hash and its merchant's status. */
export async function findKeyByHash(
  sql: Sql,
  hashes: readonly Buffer[],
): Promise<{ key: ApiKey; merchantStatus: MerchantStatus; hash: KeyedHash } | undefined> {
  const [row] = await sql.rows<Stored<ApiKey> & KeyedHash & { merchantStatus: MerchantStatus }>(
    `select ${columns}, k.hash, k.hash_key_id as "keyId", m.status as "merchantStatus"
     from api_keys k join merchants m on m.id = k.merchant_id where k.hash = any($1::bytea[])`,
    [hashes],
  );
  if (!row) return undefined;
  const { hash, keyId, merchantStatus, ...key } = row;
  return { key: keyOf(key), merchantStatus, hash: { keyId, hash } };
}

/** Stores the same key's hash under another hash key, unless another process has replaced it. */
export async function replaceHash(sql: Sql, id: string, old: KeyedHash, fresh: KeyedHash): Promise<void> {
  await sql.rows("update api_keys set hash = $3, hash_key_id = $4 where id = $1 and hash = $2", [
    id,
    old.hash,
    fresh.hash,
    fresh.keyId,
  ]);
}

export async function insertKey(sql: Sql, key: ApiKey, { hash, keyId }: KeyedHash): Promise<void> {
  await sql.rows(
    `insert into api_keys (id, merchant_id, environment, name, suffix, scopes, allowed_ips, hash, hash_key_id, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      key.id,
      key.merchantId,
      key.environment,
      key.name,
      key.suffix,
      key.scopes,
      key.allowedIps,
      hash,
      keyId,
      key.createdAt.toISOString(),
      key.expiresAt?.toISOString() ?? null,
    ],
  );
}

export interface KeyOwner {
  readonly merchantId: string;
  readonly environment: Environment;
}

// The same rule as `keyStatus` in rules/api-key.ts; $3 is the time.
const isActive = "(revoked_at is null and (expires_at is null or expires_at > $3))";

export async function countActiveKeys(sql: Sql, owner: KeyOwner, now: Date): Promise<number> {
  const [row] = await sql.rows<{ n: string }>(
    `select count(*) as n from api_keys where merchant_id = $1 and environment = $2 and ${isActive}`,
    [owner.merchantId, owner.environment, now.toISOString()],
  );
  return Number(row?.n ?? 0);
}

/** Counts the keys of any status that were created since then, up to `most`. */
export async function countKeysSince(sql: Sql, owner: KeyOwner, since: Date, most: number): Promise<number> {
  const [row] = await sql.rows<{ n: string }>(
    `select count(*) filter (where created_at > $3) as n from (
       select created_at from api_keys where merchant_id = $1 and environment = $2 order by id desc limit $4) as newest`,
    [owner.merchantId, owner.environment, since.toISOString(), most],
  );
  return Number(row?.n ?? 0);
}

interface KeyPage {
  readonly keys: readonly ApiKey[];
  readonly total: number;
  readonly offset: number;
}

/**
 * Active keys first, then newest first. Call it on one snapshot.
 * @param page.afterId starts after this key; empty for the first page
 * @returns undefined if the owner has no key `afterId`
 */
export async function listKeys(
  sql: Sql,
  owner: KeyOwner,
  page: { readonly limit: number; readonly offset: number; readonly afterId: string; readonly now: Date },
): Promise<KeyPage | undefined> {
  const { merchantId, environment } = owner;
  const now = page.now.toISOString();
  const [all] = await sql.rows<{ total: string; position: string | null }>(
    `with numbered as (
       select id, row_number() over (order by ${isActive} desc, id desc) as position
       from api_keys where merchant_id = $1 and environment = $2)
     select count(*) as total, max(position) filter (where id = $4) as position from numbered`,
    [merchantId, environment, now, page.afterId],
  );
  if (page.afterId !== "" && !all?.position) return undefined;
  const offset = Number(all?.position ?? 0) + page.offset;
  const rows = await sql.rows<Stored<ApiKey>>(
    `select ${columns} from api_keys k where merchant_id = $1 and environment = $2
     order by ${isActive} desc, id desc limit $4 offset $5`,
    [merchantId, environment, now, page.limit, offset],
  );
  return { keys: rows.map(keyOf), total: Number(all?.total ?? 0), offset };
}

/** @param lock locks the row until the transaction ends */
export async function findKey(
  sql: Sql,
  owner: KeyOwner,
  id: string,
  lock: "for update" | "" = "",
): Promise<ApiKey | undefined> {
  const [row] = await sql.rows<Stored<ApiKey>>(
    `select ${columns} from api_keys k where id = $3 and merchant_id = $1 and environment = $2 ${lock}`,
    [owner.merchantId, owner.environment, id],
  );
  return row && keyOf(row);
}

export async function lockKey(sql: Sql, owner: KeyOwner, id: string): Promise<ApiKey | undefined> {
  return await findKey(sql, owner, id, "for update");
}

/** The caller that sets an expiry knows it, so no reminder is sent. */
export async function setExpiry(sql: Sql, id: string, expiresAt: Date): Promise<void> {
  await sql.rows("update api_keys set expires_at = $2, expiry_told_at = now() where id = $1", [
    id,
    expiresAt.toISOString(),
  ]);
}

/** Returns each active, long-lived key that expires within these days, once. */
export async function takeExpiringKeys(
  sql: Sql,
  wanted: { readonly days: number; readonly lifeDays: number; readonly limit: number },
): Promise<ApiKey[]> {
  const rows = await sql.rows<Stored<ApiKey>>(
    `update api_keys k set expiry_told_at = now() where id in (
       select id from api_keys where revoked_at is null and expiry_told_at is null
         and expires_at > now() and expires_at <= now() + make_interval(days => $1)
         and expires_at > created_at + make_interval(days => $2)
       order by expires_at limit $3 for update skip locked)
     returning ${columns}`,
    [wanted.days, wanted.lifeDays, wanted.limit],
  );
  return rows.map(keyOf);
}

export async function setAllowedIps(sql: Sql, id: string, allowedIps: readonly string[]): Promise<void> {
  await sql.rows("update api_keys set allowed_ips = $2 where id = $1", [id, allowedIps]);
}

export async function setRevoked(sql: Sql, id: string, revokedAt: Date): Promise<void> {
  await sql.rows("update api_keys set revoked_at = $2 where id = $1", [id, revokedAt.toISOString()]);
}

/**
 * Records last uses in one statement. It locks rows in the order of their ids, so two gateways' batches cannot
 * deadlock. Older times change nothing, and times in the future, from a gateway's wrong clock, become now.
 */
export async function recordUses(sql: Sql, uses: readonly { id: string; usedAt: Date }[]): Promise<void> {
  await sql.rows(
    `with used as (
       select id, least(max(at), now()) as at from unnest($1::text[], $2::timestamptz[]) as u (id, at) group by id),
     locked as (
       select k.id, used.at from api_keys k join used using (id)
       where k.last_used_at is null or k.last_used_at < used.at order by k.id for update of k)
     update api_keys k set last_used_at = greatest(k.last_used_at, locked.at) from locked where k.id = locked.id`,
    [uses.map((use) => use.id), uses.map((use) => use.usedAt.toISOString())],
  );
}

function keyOf(row: Stored<ApiKey>): ApiKey {
  return {
    ...row,
    createdAt: parseTime(row.createdAt),
    expiresAt: parseTime(row.expiresAt),
    revokedAt: parseTime(row.revokedAt),
    lastUsedAt: parseTime(row.lastUsedAt),
  };
}
