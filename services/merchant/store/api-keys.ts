// The api_keys table. The look-up by hash is on the path of every request that no gateway has cached: one named statement.

import { type Sql, time } from "#platform/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantStatus } from "../rules/profile.ts";

export interface ApiKey {
  readonly id: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly name: string;
  readonly suffix: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

// What one answer lists; far more keys than a merchant can tell apart.
const listMax = 200;

interface Row {
  id: string;
  merchant_id: string;
  environment: Environment;
  name: string;
  suffix: string;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}
const columns = "id, merchant_id, environment, name, suffix, scopes, created_at, expires_at, revoked_at, last_used_at";

/** The key with this hash, in whatever state, and its merchant's status. */
export async function findKeyByHash(
  sql: Sql,
  hash: Buffer,
): Promise<{ key: ApiKey; merchantStatus: MerchantStatus } | undefined> {
  const [row] = await sql.rows<Row & { merchant_status: MerchantStatus }>(
    `select k.id, k.merchant_id, k.environment, k.name, k.suffix, k.scopes, k.created_at, k.expires_at, k.revoked_at,
       k.last_used_at, m.status as merchant_status
     from api_keys k join merchants m on m.id = k.merchant_id where k.hash = $1`,
    [hash],
  );
  return row && { key: keyOf(row), merchantStatus: row.merchant_status };
}

/** False when there is no such merchant. */
export async function insertKey(sql: Sql, key: ApiKey, hash: Buffer): Promise<boolean> {
  const rows = await sql.rows(
    `insert into api_keys (id, merchant_id, environment, name, suffix, scopes, hash, created_at, expires_at)
     select $1, m.id, $3, $4, $5, $6, $7, $8, $9 from merchants m where m.id = $2 returning id`,
    [
      key.id,
      key.merchantId,
      key.environment,
      key.name,
      key.suffix,
      key.scopes,
      hash,
      key.createdAt.toISOString(),
      key.expiresAt?.toISOString() ?? null,
    ],
  );
  return rows.length === 1;
}

/** The newest first. */
export async function listKeys(sql: Sql, merchantId: string, environment: Environment): Promise<ApiKey[]> {
  const rows = await sql.rows<Row>(
    `select ${columns} from api_keys where merchant_id = $1 and environment = $2 order by id desc limit ${listMax}`,
    [merchantId, environment],
  );
  return rows.map(keyOf);
}

/** The merchant's key, locked until the transaction ends. */
export async function lockKey(
  sql: Sql,
  owner: { merchantId: string; environment: Environment; id: string },
): Promise<ApiKey | undefined> {
  const [row] = await sql.rows<Row>(
    `select ${columns} from api_keys where id = $3 and merchant_id = $1 and environment = $2 for update`,
    [owner.merchantId, owner.environment, owner.id],
  );
  return row && keyOf(row);
}

export async function setExpiry(sql: Sql, id: string, expiresAt: Date): Promise<void> {
  await sql.rows("update api_keys set expires_at = $2 where id = $1", [id, expiresAt.toISOString()]);
}

export async function setRevoked(sql: Sql, id: string, revokedAt: Date): Promise<void> {
  await sql.rows("update api_keys set revoked_at = $2 where id = $1", [id, revokedAt.toISOString()]);
}

/**
 * Records last uses in one statement. Rows are locked in the order of their ids, so that the batches of two gateways cannot
 * deadlock; times that are not newer than the known one change nothing, and a gateway's fast clock cannot reach the future.
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
    createdAt: time(row.created_at),
    expiresAt: time(row.expires_at),
    revokedAt: time(row.revoked_at),
    lastUsedAt: time(row.last_used_at),
  };
}
