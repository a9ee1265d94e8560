// The api_keys table. The look-up by hash is on the path of every request that no gateway has cached: one named
// statement.
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { KeyedHash } from "#platform/secrets/vault.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantStatus } from "../rules/profile.ts";

export interface ApiKey {
  readonly id: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly name: string;
  readonly suffix: string;
  readonly scopes: readonly string[];
  /** As rules/allowed-ips.ts writes them; none: everywhere. */
  readonly allowedIps: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

interface Row {
  id: string;
  merchant_id: string;
  environment: Environment;
  name: string;
  suffix: string;
  scopes: string[];
  allowed_ips: string[];
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}
const columns =
  "id, merchant_id, environment, name, suffix, scopes, allowed_ips, created_at, expires_at, revoked_at, last_used_at";

/** The key with one of these hashes, in whatever state, its hash, and its merchant's status. */
export async function findKeyByHash(
  sql: Sql,
  hashes: readonly Buffer[],
): Promise<{ key: ApiKey; merchantStatus: MerchantStatus; hash: KeyedHash } | undefined> {
  const [row] = await sql.rows<Row & { merchant_status: MerchantStatus; hash: Buffer; hash_key_id: string }>(
    `select k.id, k.merchant_id, k.environment, k.name, k.suffix, k.scopes, k.allowed_ips, k.created_at, k.expires_at,
       k.revoked_at, k.last_used_at, k.hash, k.hash_key_id, m.status as merchant_status
     from api_keys k join merchants m on m.id = k.merchant_id where k.hash = any($1::bytea[])`,
    [hashes],
  );
  return (
    row && {
      key: keyOf(row),
      merchantStatus: row.merchant_status,
      hash: { keyId: row.hash_key_id, hash: row.hash },
    }
  );
}

/** Stores the hash of the same key under another hash key, unless somebody did since. */
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

/** Whose keys. */
export interface KeyOwner {
  readonly merchantId: string;
  readonly environment: Environment;
}

// As rules/api-key.ts says it, at the time $3.
const isActive = "(revoked_at is null and (expires_at is null or expires_at > $3))";

export async function countActiveKeys(sql: Sql, owner: KeyOwner, now: Date): Promise<number> {
  const [row] = await sql.rows<{ n: string }>(
    `select count(*) as n from api_keys where merchant_id = $1 and environment = $2 and ${isActive}`,
    [owner.merchantId, owner.environment, now.toISOString()],
  );
  return Number(row?.n ?? 0);
}

/**
 * How many of the newest keys were created since then, in whatever state they are now; counts no further than `most`.
 */
export async function countKeysSince(sql: Sql, owner: KeyOwner, since: Date, most: number): Promise<number> {
  const [row] = await sql.rows<{ n: string }>(
    `select count(*) filter (where created_at > $3) as n from (
       select created_at from api_keys where merchant_id = $1 and environment = $2 order by id desc limit $4) as newest`,
    [owner.merchantId, owner.environment, since.toISOString(), most],
  );
  return Number(row?.n ?? 0);
}

export interface KeyPage {
  readonly keys: readonly ApiKey[];
  readonly total: number;
  /** How many come before the first of them. */
  readonly offset: number;
}

/**
 * Active ones first, then the newest first. To be asked on one snapshot.
 * @param page.afterId only those after this key; empty: from the beginning
 * @returns undefined when the owner has no such key
 */
export async function listKeys(
  sql: Sql,
  owner: KeyOwner,
  page: { readonly limit: number; readonly offset: number; readonly afterId: string; readonly now: Date },
): Promise<KeyPage | undefined> {
  const { merchantId, environment } = owner;
  const now = page.now.toISOString();
  const [all] = await sql.rows<{ total: string; place: string | null }>(
    `with placed as (
       select id, row_number() over (order by ${isActive} desc, id desc) as place
       from api_keys where merchant_id = $1 and environment = $2)
     select count(*) as total, max(place) filter (where id = $4) as place from placed`,
    [merchantId, environment, now, page.afterId],
  );
  if (page.afterId !== "" && !all?.place) return undefined;
  const offset = Number(all?.place ?? 0) + page.offset;
  const rows = await sql.rows<Row>(
    `select ${columns} from api_keys where merchant_id = $1 and environment = $2
     order by ${isActive} desc, id desc limit $4 offset $5`,
    [merchantId, environment, now, page.limit, offset],
  );
  return { keys: rows.map(keyOf), total: Number(all?.total ?? 0), offset };
}

/** The owner's key, as it is now. */
export async function findKey(sql: Sql, owner: KeyOwner, id: string): Promise<ApiKey | undefined> {
  const [row] = await sql.rows<Row>(
    `select ${columns} from api_keys where id = $3 and merchant_id = $1 and environment = $2`,
    [owner.merchantId, owner.environment, id],
  );
  return row && keyOf(row);
}

/** The same, locked until the transaction ends. */
export async function lockKey(sql: Sql, owner: KeyOwner, id: string): Promise<ApiKey | undefined> {
  const [row] = await sql.rows<Row>(
    `select ${columns} from api_keys where id = $3 and merchant_id = $1 and environment = $2 for update`,
    [owner.merchantId, owner.environment, id],
  );
  return row && keyOf(row);
}

/** Whoever ends a key knows when: nobody is told any more. */
export async function setExpiry(sql: Sql, id: string, expiresAt: Date): Promise<void> {
  await sql.rows("update api_keys set expires_at = $2, expiry_told_at = now() where id = $1", [
    id,
    expiresAt.toISOString(),
  ]);
}

/** Active keys that end within these days and had a long life, none of them twice. */
export async function takeExpiringKeys(
  sql: Sql,
  wanted: { readonly days: number; readonly lifeDays: number; readonly limit: number },
): Promise<ApiKey[]> {
  const rows = await sql.rows<Row>(
    `update api_keys set expiry_told_at = now() where id in (
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
 * Records last uses in one statement. Rows are locked in the order of their ids, so that the batches of two gateways
 * cannot deadlock; times that are not newer than the known one change nothing, and a gateway's fast clock cannot reach
 * the future.
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

function keyOf(row: Row): ApiKey {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    environment: row.environment,
    name: row.name,
    suffix: row.suffix,
    scopes: row.scopes,
    allowedIps: row.allowed_ips,
    createdAt: parseTime(row.created_at),
    expiresAt: parseTime(row.expires_at),
    revokedAt: parseTime(row.revoked_at),
    lastUsedAt: parseTime(row.last_used_at),
  };
}
