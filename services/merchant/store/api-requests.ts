// The api_requests table: written in batches, read by Request-Id and by merchant. request-days.ts manages its
// partitions.
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Stored } from "./rows.ts";

export interface ApiRequest {
  /** `req_…`; starts with the time. */
  readonly id: string;
  readonly at: Date;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly errorCode: string;
  readonly durationMs: number;
  readonly apiKeyId: string;
  readonly merchantId: string;
  readonly environment: Environment;
}

/** Empty, 0 and undefined disable a filter. */
interface RequestFilter {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly apiKeyId: string;
  readonly minStatus: number;
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  readonly beforeId: string;
  readonly limit: number;
}

/** Idempotent. */
export async function insertRequests(sql: Sql, requests: readonly ApiRequest[]): Promise<void> {
  await sql.rows(
    `insert into api_requests (id, at, method, path, status, error_code, duration_ms, api_key_id, merchant_id, environment)
     select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::smallint[], $6::text[], $7::float8[],
       $8::text[], $9::text[], $10::smallint[])
     on conflict (id) do nothing`,
    [
      requests.map((request) => request.id),
      requests.map((request) => request.at.toISOString()),
      requests.map((request) => request.method),
      requests.map((request) => request.path),
      requests.map((request) => request.status),
      requests.map((request) => request.errorCode),
      requests.map((request) => request.durationMs),
      requests.map((request) => request.apiKeyId),
      requests.map((request) => request.merchantId),
      requests.map((request) => request.environment),
    ],
  );
}

const columns = `id, at, method, path, status, error_code as "errorCode", duration_ms as "durationMs",
  api_key_id as "apiKeyId", merchant_id as "merchantId", environment`;

export async function findRequest(sql: Sql, id: string): Promise<ApiRequest | undefined> {
  const [row] = await sql.rows<Stored<ApiRequest>>(`select ${columns} from api_requests where id = $1`, [id]);
  return row && { ...row, at: parseTime(row.at) };
}

export async function listRequests(sql: Sql, filter: RequestFilter): Promise<ApiRequest[]> {
  const rows = await sql.rows<Stored<ApiRequest>>(
    `select ${columns} from api_requests
     where merchant_id = $1 and merchant_id <> '' and environment = $2 and status >= $3
       and ($4 = '' or api_key_id = $4) and ($5 = '' or id < $5)
       and ($6::timestamptz is null or at >= $6) and ($7::timestamptz is null or at < $7)
     order by id desc limit $8`,
    [
      filter.merchantId,
      filter.environment,
      filter.minStatus,
      filter.apiKeyId,
      filter.beforeId,
      filter.since?.toISOString() ?? null,
      filter.until?.toISOString() ?? null,
      filter.limit,
    ],
  );
  return rows.map((row) => ({ ...row, at: parseTime(row.at) }));
}
