// The audit_entries table: appended from events. Database rights forbid changes.
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ChainedEntry } from "../rules/audit-chain.ts";
import type { Stored } from "./rows.ts";

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

/** Empty and undefined disable a filter. */
interface AuditFilter {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly actor: string;
  readonly objectId: string;
  /** Matches the payment id in the details of refunds, disputes and operations. */
  readonly paymentId: string;
  readonly action: string;
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  readonly beforeId: string;
  readonly limit: number;
}

/** Inserts new entries. @returns their ids */
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

export function chainedEntry(entry: AuditEntry): ChainedEntry {
  return { ...entry, occurredMicros: String(BigInt(entry.occurredAt.getTime()) * 1_000n) };
}

const columns = `entry.id, entry.merchant_id as "merchantId", entry.environment, entry.actor,
  entry.request_id as "requestId", entry.action, entry.object_id as "objectId", entry.status, entry.details`;

/** Columns of `entry` as a ChainedEntry. A forger can store any timestamp, even an infinite one. */
export const chainedColumns = `${columns}, case when isfinite(entry.occurred_at)
    then trunc(extract(epoch from entry.occurred_at) * 1000000)::text else 'never' end as "occurredMicros"`;

/**
 * Reads the next entries by id. Entries until one day after the upgrade from 0.1.0 are skipped, since 0.1.0 wrote them
 * without links, also while the upgrade replaced its processes.
 * @returns entries in no chain, entries in another merchant's chain, and the last id read (undefined at the end)
 */
export async function unchainedEntries(
  sql: Sql,
  afterId: string,
  limit: number,
): Promise<{ entries: ChainedEntry[]; astray: ChainedEntry[]; lookedTo: string | undefined }> {
  const rows = await sql.rows<ChainedEntry & { chain: string | null }>(
    `select ${chainedColumns}, (select link.merchant_id from audit_links link where link.entry_id = entry.id) as chain
     from audit_entries entry where entry.id > $1
       and entry.occurred_at > (select applied_at from schema_migrations where name = 'merchant/0009-audit-chain.sql') + interval '1 day'
     order by entry.id limit $2`,
    [afterId, limit],
  );
  return {
    entries: rows.filter(({ chain }) => chain === null),
    astray: rows.filter(({ chain, merchantId }) => chain !== null && chain !== merchantId),
    lookedTo: rows.length < limit ? undefined : rows.at(-1)?.id,
  };
}

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
  const rows = await sql.rows<Stored<AuditEntry>>(
    `select ${columns}, occurred_at as "occurredAt" from audit_entries entry ${condition} order by id desc limit $1`,
    params,
  );
  return rows.map((row) => ({ ...row, occurredAt: parseTime(row.occurredAt) }));
}
