// The table events by position, the order in which events became visible (schema/0013-event-positions.sql). All
// positions up to the newest visible one are final: what has none yet gets a greater one.
import type { Sql } from "#platform/database/database.ts";
import { listedCodes } from "../rules/event-types.ts";

export interface FeedRow {
  readonly position: string;
  readonly id: string;
  readonly type: string;
  readonly merchant_id: string;
  readonly environment: number;
  readonly body: Buffer;
  readonly version: number | null;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly reference: string | null;
}

export interface FeedFilter {
  readonly types: readonly string[];
  readonly merchantIds: readonly string[];
}

export interface FeedPage {
  readonly rows: readonly FeedRow[];
  readonly nextPosition: bigint;
  readonly hasMore: boolean;
  readonly newest: bigint;
}

// A filter that matches few events reads all that it passes.
const passedMax = 10_000n;

/** The greatest visible position; 0 without events. */
export async function newestPosition(sql: Sql): Promise<bigint> {
  const [row] = await sql.rows<{ newest: string }>(
    "select coalesce(max(position), 0) as newest from events where position is not null",
  );
  return BigInt(row?.newest ?? 0);
}

/** Events after the position, oldest first. @param newest a position that is visible */
export async function listFeed(
  sql: Sql,
  after: bigint,
  newest: bigint,
  { types, merchantIds, limit }: FeedFilter & { readonly limit: number },
): Promise<FeedPage> {
  if (after >= newest) return { rows: [], nextPosition: after, hasMore: false, newest };
  const [next] = await sql.rows<{ first: string }>(
    "select coalesce(min(position), 0) as first from events where position > $1",
    [after],
  );
  const lastPassed = BigInt(next?.first ?? 0) + passedMax - 1n;
  const until = lastPassed < newest ? lastPassed : newest;
  const rows = await sql.rows<FeedRow>(
    `select position, id, type, merchant_id, environment, body, version, amount, currency, reference from events
     where position > $1 and position <= $2 and type = any ($3::text[])
       and ($4::text[] = '{}' or merchant_id = any ($4::text[]))
     order by position limit $5`,
    [after, until, types.length === 0 ? listedCodes : types, merchantIds, limit],
  );
  const last = rows.at(-1);
  const nextPosition = last && rows.length === limit ? BigInt(last.position) : until;
  return { rows, nextPosition, hasMore: nextPosition < newest, newest };
}
