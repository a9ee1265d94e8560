// The audit_entries table: appended from events, read newest first. SQL refuses everything else.
import { type Sql, time } from "#platform/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";

export interface AuditEntry {
  /** `evt_…` of the event. */
  readonly id: string;
  readonly occurredAt: Date;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly actor: string;
  readonly requestId: string;
  readonly action: string;
  readonly objectId: string;
  readonly status: string;
  readonly details: Readonly<Record<string, string>>;
}

/** Empty and undefined: no such filter. */
export interface AuditFilter {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly actor: string;
  readonly objectId: string;
  readonly action: string;
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  readonly beforeId: string;
  readonly limit: number;
}

/** Appends the entries; one that is there already stays as it is. */
export async function appendAudit(sql: Sql, entries: readonly AuditEntry[]): Promise<void> {
  await sql.rows(
    `insert into audit_entries (id, occurred_at, merchant_id, environment, actor, request_id, action, object_id, status, details)
     select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::smallint[], $5::text[], $6::text[], $7::text[],
       $8::text[], $9::text[], $10::jsonb[])
     on conflict (id) do nothing`,
    [
      entries.map((entry) => entry.id),
      entries.map((entry) => entry.occurredAt.toISOString()),
      entries.map((entry) => entry.merchantId),
      entries.map((entry) => entry.environment),
      entries.map((entry) => entry.actor),
      entries.map((entry) => entry.requestId),
      entries.map((entry) => entry.action),
      entries.map((entry) => entry.objectId),
      entries.map((entry) => entry.status),
      entries.map((entry) => JSON.stringify(entry.details)),
    ],
  );
}

interface Row {
  id: string;
  occurred_at: string;
  merchant_id: string;
  environment: Environment;
  actor: string;
  request_id: string;
  action: string;
  object_id: string;
  status: string;
  details: Record<string, string>;
}

/** Newest first. */
export async function listAudit(sql: Sql, filter: AuditFilter): Promise<AuditEntry[]> {
  const params: unknown[] = [filter.limit];
  const conditions: string[] = [];
  const where = (value: unknown, condition: (parameter: string) => string) => {
    if (value === "" || value === 0 || value === undefined) return;
    params.push(value instanceof Date ? value.toISOString() : value);
    conditions.push(condition(`$${params.length}`));
  };
  where(filter.merchantId, (p) => `merchant_id = ${p}`);
  where(filter.environment, (p) => `environment in (0, ${p})`);
  where(filter.actor, (p) => `actor = ${p} and actor <> ''`);
  where(filter.objectId, (p) => `object_id = ${p}`);
  where(filter.action, (p) => `action = ${p}`);
  where(filter.since, (p) => `occurred_at >= ${p}`);
  where(filter.until, (p) => `occurred_at < ${p}`);
  where(filter.beforeId, (p) => `id < ${p}`);
  const condition = conditions.length > 0 ? `where ${conditions.join(" and ")}` : "";
  const rows = await sql.rows<Row>(`select * from audit_entries ${condition} order by id desc limit $1`, params);
  return rows.map((row) => ({
    id: row.id,
    occurredAt: time(row.occurred_at),
    merchantId: row.merchant_id,
    environment: row.environment,
    actor: row.actor,
    requestId: row.request_id,
    action: row.action,
    objectId: row.object_id,
    status: row.status,
    details: row.details,
  }));
}
