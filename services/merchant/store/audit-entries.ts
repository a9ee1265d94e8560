// The audit_entries table: appended from events, read newest first, or as the chain hashes them. SQL refuses everything
// else.
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ChainedEntry } from "../rules/audit-chain.ts";

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
  /** Acts on its refunds, disputes and operations name their payment. */
  readonly paymentId: string;
  readonly action: string;
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  readonly beforeId: string;
  readonly limit: number;
}

/** Appends the entries; one that is there already stays as it is. @returns the ids of those that were not */
export async function insertEntries(sql: Sql, entries: readonly AuditEntry[]): Promise<Set<string>> {
  const rows = await sql.rows<{ id: string }>(
    `insert into audit_entries (id, occurred_at, merchant_id, environment, actor, request_id, action, object_id, status, details)
     select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::smallint[], $5::text[], $6::text[], $7::text[],
       $8::text[], $9::text[], $10::jsonb[])
     on conflict (id) do nothing returning id`,
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
  return new Set(rows.map(({ id }) => id));
}

/** An entry as the chain hashes it. */
export function chainedEntry(entry: AuditEntry): ChainedEntry {
  return { ...entry, occurredMicros: String(BigInt(entry.occurredAt.getTime()) * 1_000n) };
}

/** Columns of `entry` by which `storedEntry` has it to the last microsecond, whatever somebody wrote there. */
export const storedColumns = `entry.id, entry.merchant_id, entry.environment, entry.actor, entry.request_id, entry.action, entry.object_id,
  entry.status, entry.details,
  case when isfinite(entry.occurred_at) then trunc(extract(epoch from entry.occurred_at) * 1000000)::text else 'never' end as occurred_micros`;

export type StoredRow = Omit<Row, "occurred_at"> & { occurred_micros: string };

export function storedEntry(row: StoredRow): ChainedEntry {
  return {
    id: row.id,
    occurredMicros: row.occurred_micros,
    merchantId: row.merchant_id,
    environment: row.environment,
    actor: row.actor,
    requestId: row.request_id,
    action: row.action,
    objectId: row.object_id,
    status: row.status,
    details: row.details,
  };
}

/**
 * Reads the next entries by their ids. 0.1.0 wrote entries without a link, also while an update replaced its processes:
 * acts of before, and of the day after it, are passed over.
 * @returns those that are in no chain, those that are in another merchant's, and how far it read; undefined: to the end
 */
export async function unchainedEntries(
  sql: Sql,
  afterId: string,
  limit: number,
): Promise<{ entries: ChainedEntry[]; astray: ChainedEntry[]; lookedTo: string | undefined }> {
  const rows = await sql.rows<StoredRow & { chain: string | null }>(
    `select ${storedColumns}, (select link.merchant_id from audit_links link where link.entry_id = entry.id) as chain
     from audit_entries entry where entry.id > $1
       and entry.occurred_at > (select applied_at from schema_migrations where name = 'merchant/0009-audit-chain.sql') + interval '1 day'
     order by entry.id limit $2`,
    [afterId, limit],
  );
  const of = (isWanted: (row: StoredRow & { chain: string | null }) => boolean) =>
    rows.filter(isWanted).map(storedEntry);
  return {
    entries: of(({ chain }) => chain === null),
    astray: of((row) => row.chain !== null && row.chain !== row.merchant_id),
    lookedTo: rows.length < limit ? undefined : rows.at(-1)?.id,
  };
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
  where(filter.paymentId, (p) => `details ->> 'payment_id' = ${p}`);
  where(filter.action, (p) => `action = ${p}`);
  where(filter.since, (p) => `occurred_at >= ${p}`);
  where(filter.until, (p) => `occurred_at < ${p}`);
  where(filter.beforeId, (p) => `id < ${p}`);
  const condition = conditions.length > 0 ? `where ${conditions.join(" and ")}` : "";
  const rows = await sql.rows<Row>(`select * from audit_entries ${condition} order by id desc limit $1`, params);
  return rows.map((row) => ({
    id: row.id,
    occurredAt: parseTime(row.occurred_at),
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
