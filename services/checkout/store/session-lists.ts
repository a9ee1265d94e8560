// Reading sessions for their merchant: one by id, or a page with the exact total of its filters.
import type { Sql } from "#platform/database/database.ts";
import { listDated, type PageWindow } from "#platform/lists/dated-list.ts";
import { timeRange } from "#platform/lists/day-range.ts";
import { idFloor } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { listedColumns, type SessionRow, type StoredSession, sessionColumns, sessionOf } from "./sessions.ts";

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

const list = { table: "sessions", alias: "s", condition: "true", columns: listedColumns };

/** Newest first. */
export async function listSessions(
  sql: Sql,
  filter: ListFilter,
  window: PageWindow,
): Promise<{ rows: StoredSession[]; total: bigint }> {
  const { merchantId, environment, status } = filter;
  const dated = { merchantId, environment, status, range: timeRange(filter.from, filter.to) };
  const { rows, total } = await listDated<SessionRow>(sql, list, dated, window);
  return { rows: rows.map(sessionOf), total };
}

/** Everybody's sessions made since then, oldest first. @param after the last one of the page before; empty: none. */
export async function sessionsSince(sql: Sql, since: Date, after: string, limit: number): Promise<StoredSession[]> {
  const rows = await sql.rows<SessionRow>(
    `select ${sessionColumns} from sessions s where s.id >= $1 and s.id > $2 order by s.id limit $3`,
    [idFloor("session", since.getTime()), after, limit],
  );
  return rows.map(sessionOf);
}
