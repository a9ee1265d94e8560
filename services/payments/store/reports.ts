// The reports table and the encrypted pieces of their files. A process writes a report under a lease: a piece and the
// report's progress are one statement, which a process without the lease cannot run.
import {
  bigint,
  bytes,
  Columns,
  integer,
  optionalColumn,
  type RowOf,
  sqlColumn,
  text,
  time,
} from "#platform/database/columns.ts";
import type { Sql, Tx } from "#platform/database/database.ts";
import type { PageWindow } from "#platform/lists/dated-list.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ReportType } from "../../public-json/report.ts";
import { ownRows, readCountedPage } from "../lists/counted-page.ts";
import type { Owner } from "./payment-records.ts";

const reportColumns = new Columns({
  id: text,
  merchantId: text,
  environment: sqlColumn<Environment>("smallint"),
  type: sqlColumn<ReportType>("text"),
  status: sqlColumn<"queued" | "running" | "ready" | "failed" | "expired">("text"),
  rangeFrom: time,
  rangeTo: time,
  timezone: text,
  columns: sqlColumn<readonly string[]>("text[]"),
  dataKey: optionalColumn(bytes),
  size: bigint,
  rows: bigint,
  progress: integer,
  failure: text,
  createdAt: time,
  expiresAt: optionalColumn(time),
  version: bigint,
});
const columns = reportColumns.names("t");

export type StoredReport = RowOf<typeof reportColumns>;

/** A report to write, as its last piece left it. Times are PostgreSQL's text, to the microsecond. */
export interface ReportWork extends StoredReport {
  readonly leaseId: string;
  readonly tries: number;
  readonly position: { readonly at: string; readonly id: string };
  readonly until: string;
  readonly orderedAt: string;
}

type NewReport = Omit<
  StoredReport,
  "status" | "size" | "rows" | "progress" | "failure" | "createdAt" | "expiresAt" | "version"
>;

/** A repeat changes nothing. @returns undefined: the owner has `unfinishedMax` unfinished reports */
export async function insertReport(
  tx: Tx,
  report: NewReport,
  unfinishedMax: number,
): Promise<StoredReport | undefined> {
  const { id, merchantId, environment, type, rangeFrom, rangeTo, timezone, dataKey } = report;
  // Requests at once would count the same reports.
  await tx.rows("select pg_advisory_xact_lock(hashtextextended('reports/' || $1::text, 0))", [merchantId]);
  await tx.rows(
    `insert into reports (id, merchant_id, environment, type, range_from, range_to, timezone, columns, data_key, last_at)
     select $1, $2, $3::smallint, $4, $5::timestamptz, $6, $7, $8, $9, $5::timestamptz
     where (select count(*) from reports where merchant_id = $2 and environment = $3::smallint
       and status in ('queued', 'running')) < $10
     on conflict (id) do nothing`,
    [
      ...[id, merchantId, environment, type, rangeFrom.toISOString(), rangeTo.toISOString(), timezone],
      ...[report.columns, dataKey, unfinishedMax],
    ],
  );
  return await findReport(tx, report, id);
}

/** undefined: the owner has no such report. */
export async function findReport(sql: Sql, owner: Owner, id: string): Promise<StoredReport | undefined> {
  const [row] = await sql.rows<object>(
    `select ${columns} from reports t where t.id = $3 and t.merchant_id = $1 and t.environment = $2`,
    [owner.merchantId, owner.environment, id],
  );
  return row && reportColumns.read(row);
}

export async function listReports(
  sql: Sql,
  owner: Owner,
  window: PageWindow,
): Promise<{ rows: StoredReport[]; total: bigint }> {
  const { rows, total } = await readCountedPage(sql, { table: "reports", columns }, ownRows(owner), window);
  return { rows: rows.map((row) => reportColumns.read(row)), total };
}

// Several times the making of a piece, which renews it.
const leaseSeconds = 60;
// Transactions that began before the report was ordered have committed by then.
const settleSeconds = 5;

/** Leases the unfinished report that has waited longest for its turn. */
export async function claimReport(sql: Sql, leaseId: string): Promise<ReportWork | undefined> {
  const [row] = await sql.rows<{
    tries: number;
    last_at: string;
    last_id: string;
    range_to: string;
    created_at: string;
  }>(
    `update reports t set status = 'running', lease_id = $1, leased_until = now() + make_interval(secs => $2),
       tries = t.tries + 1, turn_at = now(), version = t.version + case t.status when 'queued' then 1 else 0 end
     where t.id = (
       select id from reports where status in ('queued', 'running') and leased_until < now()
         and least(range_to, created_at) < now() - make_interval(secs => $3)
       order by turn_at limit 1 for update skip locked)
     returning ${columns}, t.tries, t.last_at, t.last_id`,
    [leaseId, leaseSeconds, settleSeconds],
  );
  if (!row) return undefined;
  const { tries, last_at: at, last_id: id, range_to: until, created_at: orderedAt } = row;
  return { ...reportColumns.read(row), leaseId, tries, position: { at, id }, until, orderedAt };
}

interface NewPiece {
  readonly bytes: Buffer;
  /** Of the plain bytes. */
  readonly length: number;
  readonly rows: number;
  readonly progress: number;
  readonly position: ReportWork["position"];
}

/** Appends a piece to the report as it was read. @returns false: another process has it */
export async function storePiece(sql: Sql, work: ReportWork, piece: NewPiece): Promise<boolean> {
  const stored = await sql.rows(
    `with moved as (
       update reports set size = size + $4, rows = rows + $5, progress = $6, last_at = $7, last_id = $8, tries = 0,
         leased_until = now() + make_interval(secs => $10)
       where id = $1 and lease_id = $2 and size = $3 and status = 'running' returning id)
     insert into report_pieces (report_id, begins_at, length, bytes) select id, $3, $4, $9 from moved returning report_id`,
    [
      ...[work.id, work.leaseId, work.size, piece.length, piece.rows, piece.progress],
      ...[piece.position.at, piece.position.id, piece.bytes, leaseSeconds],
    ],
  );
  return stored.length === 1;
}

const keepDays = 30;

/** @returns undefined: another process has it */
export async function finishReport(tx: Tx, { id, leaseId }: ReportWork): Promise<StoredReport | undefined> {
  const [row] = await tx.rows<object>(
    `update reports t set status = 'ready', progress = 100, expires_at = now() + make_interval(days => $3),
       version = t.version + 1
     where t.id = $1 and t.lease_id = $2 and t.status = 'running' returning ${columns}`,
    [id, leaseId, keepDays],
  );
  return row && reportColumns.read(row);
}

export async function failReport(
  sql: Sql,
  { id, leaseId }: ReportWork,
  failure: "too_many_rows" | "internal_error",
): Promise<void> {
  await sql.rows(
    `update reports set status = 'failed', failure = $3, data_key = null, version = version + 1
     where id = $1 and lease_id = $2 and status = 'running'`,
    [id, leaseId, failure],
  );
}

/** Ends the turn: the report goes on when the others had theirs. */
export async function releaseReport(sql: Sql, { id, leaseId }: ReportWork): Promise<void> {
  await sql.rows("update reports set leased_until = '-infinity' where id = $1 and lease_id = $2", [id, leaseId]);
}

/** The piece with this byte of the file. */
export async function findPiece(
  sql: Sql,
  reportId: string,
  offset: bigint,
): Promise<{ beginsAt: bigint; bytes: Buffer } | undefined> {
  const [row] = await sql.rows<{ begins_at: string; bytes: Buffer }>(
    `select begins_at, bytes from report_pieces where report_id = $1 and begins_at <= $2 order by begins_at desc limit 1`,
    [reportId, offset],
  );
  return row && { beginsAt: BigInt(row.begins_at), bytes: row.bytes };
}

const sweepMax = 500;

/** Ends reports whose time is over, and deletes pieces of those that have ended. @returns true: there may be more */
export async function sweepReports(sql: Sql): Promise<boolean> {
  await sql.rows(
    `update reports set status = 'expired', data_key = null, version = version + 1
     where status = 'ready' and expires_at < now()`,
  );
  const deleted = await sql.rows(
    `delete from report_pieces where (report_id, begins_at) in (
       select p.report_id, p.begins_at from report_pieces p join reports r on r.id = p.report_id
       where r.data_key is null limit $1)
     returning report_id`,
    [sweepMax],
  );
  return deleted.length === sweepMax;
}
