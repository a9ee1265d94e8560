// Writes a part of a leased report's file. Phases, each safe to rerun: 1 read a page of rows · 2 store them as a piece
// with the new position, in one statement · … · 3 finish and announce, in one transaction. After a kill another process
// goes on behind the last piece; one that lost its lease can store nothing.
import type { Database } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { csvHeading } from "../../../public-json/csv.ts";
import { cellOf, type ReportColumn, reportColumns } from "../../lists/reports/columns.ts";
import { type ReportRow, readReportRows } from "../../lists/reports/rows.ts";
import { failReport, finishReport, type ReportWork, storePiece } from "../../store/reports.ts";
import { sealPiece } from "./report-file.ts";

export interface MakeReportDeps {
  readonly db: Database;
  readonly vault: Vault;
  readonly outbox: Outbox;
}

export const reportRowsMax = 10_000_000n;
const pieceBytesMax = 1_048_576;

/** Bounds of a turn, which tests lower. */
export interface TurnSize {
  readonly pageRows: number;
  readonly pieces: number;
}
// A page is a piece of some hundred kilobytes, and its text blocks other calls for some ten milliseconds.
const turnSize: TurnSize = { pageRows: 1_000, pieces: 50 };

/** @returns false: the turn is over, and the report is not finished */
export async function makeReport(
  deps: MakeReportDeps,
  leased: ReportWork,
  { pageRows, pieces }: TurnSize = turnSize,
): Promise<boolean> {
  const columns = columnsOf(leased);
  let work = leased;
  for (let i = 0; i < pieces; i++) {
    const { position: last } = work;
    const rows = await deps.db.snapshot((sql) => readReportRows(sql, leased, columns, last, pageRows));
    if (rows.length === 0 && work.size > 0n) return await finish(deps, work);
    const { plain, taken } = pieceOf(columns, rows, work.size === 0n);
    const [size, count] = [work.size + BigInt(plain.length), work.rows + BigInt(taken)];
    if (count > reportRowsMax) {
      await failReport(deps.db, work, "too_many_rows");
      return true;
    }
    const position = rows[taken - 1] ?? work.position;
    const progress = progressOf(work, position.at);
    const bytes = await sealPiece(deps.vault, work, work.size, plain);
    const isStored = await storePiece(deps.db, work, { bytes, length: plain.length, rows: taken, progress, position });
    if (!isStored) return true;
    work = { ...work, size, rows: count, position: { at: position.at, id: position.id } };
  }
  return false;
}

function columnsOf({ type, columns }: ReportWork): ReportColumn[] {
  const known = new Map(reportColumns[type].map((column) => [column.name, column]));
  return columns.flatMap((name) => known.get(name) ?? []);
}

/** The rows that fit into a piece, at least one. */
function pieceOf(columns: readonly ReportColumn[], rows: readonly ReportRow[], isFirst: boolean) {
  const lines = isFirst ? [csvHeading(columns.map(({ name }) => name))] : [];
  let size = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
  let taken = 0;
  for (const { values } of rows) {
    const line = `${columns.map((column, i) => cellOf(column, values[i] ?? null)).join(",")}\r\n`;
    size += Buffer.byteLength(line);
    if (size > pieceBytesMax && taken > 0) break;
    lines.push(line);
    taken += 1;
  }
  return { plain: Buffer.from(lines.join("")), taken };
}

function progressOf({ rangeFrom, rangeTo, createdAt }: ReportWork, at: string): number {
  const [from, to] = [rangeFrom.getTime(), Math.min(rangeTo.getTime(), createdAt.getTime())];
  const part = (new Date(at).getTime() - from) / Math.max(1, to - from);
  return Math.min(99, Math.max(0, Math.floor(part * 100)));
}

async function finish({ db, outbox }: MakeReportDeps, work: ReportWork): Promise<boolean> {
  await db.transaction(async (tx) => {
    const report = await finishReport(tx, work);
    if (!report) return;
    const { merchantId, environment, id: objectId, version } = report;
    const attributes = { version: String(version) };
    const event = {
      type: "report.ready",
      merchantId,
      environment,
      objectId,
      status: "ready",
      at: clockNow(),
      attributes,
    };
    await outbox.append(tx, [event]);
  });
  outbox.wake();
  return true;
}
