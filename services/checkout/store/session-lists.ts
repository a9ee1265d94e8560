// Reading sessions for their merchant: one by id, or a page with the exact total of its filters.
import type { Sql } from "#platform/database.ts";
import { listDated, type PageWindow } from "#platform/dated-list.ts";
import { timeRange } from "#platform/day-range.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type SessionRow, type StoredSession, sessionColumns, sessionOf } from "./sessions.ts";

export interface Owner {
  readonly merchantId: string;
  readonly environment: Environment;
}

export interface ListFilter extends Owner {
  /** Exact; empty: all. */
  readonly status: string;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

export async function findOwnSession(sql: Sql, owner: Owner, id: string): Promise<StoredSession | undefined> {
  const [row] = await sql.rows<SessionRow>(
    `select ${sessionColumns} from sessions s where s.id = $1 and s.merchant_id = $2 and s.environment = $3`,
    [id, owner.merchantId, owner.environment],
  );
  return row && sessionOf(row);
}

const list = { table: "sessions", alias: "s", condition: "true", columns: sessionColumns };

/** Newest first. */
export async function listSessions(
  sql: Sql,
  filter: ListFilter,
  window: PageWindow,
): Promise<{ sessions: StoredSession[]; total: bigint }> {
  const { merchantId, environment, status } = filter;
  const dated = { merchantId, environment, status, range: timeRange(filter.from, filter.to) };
  const { rows, total } = await listDated<SessionRow>(sql, list, dated, window);
  return { sessions: rows.map(sessionOf), total };
}
