// The table events: a merchant's events of 30 days, subscribed or not (docs/contract.md §9). The statement that
// consumes events (delivery-queue.ts) writes it.
import type { Sql } from "#platform/database/database.ts";
import { listedCodes } from "../rules/event-types.ts";
import type { Owner } from "./endpoints.ts";

export interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly payment_id: string | null;
  readonly body: Buffer;
  /** Null: it has none yet, or is from before events had positions. */
  readonly position: string | null;
}

interface EventFilter {
  readonly types: readonly string[];
  readonly paymentId: string | undefined;
  readonly limit: number;
}

interface IdRange {
  readonly fromId: string;
  /** Exclusive. */
  readonly untilId: string;
}

const columns = "id, type, payment_id, body, position";
const ofOwner = "merchant_id = $1 and environment = $2 and id >= $3 and id < $4";

/** Newest first. */
export async function listEvents(sql: Sql, owner: Owner, filter: EventFilter & IdRange): Promise<EventRow[]> {
  const { types, paymentId, fromId, untilId, limit } = filter;
  const values = [owner.merchantId, owner.environment, fromId, untilId, types, limit];
  if (paymentId !== undefined) {
    return await sql.rows(
      `select ${columns} from events where ${ofOwner} and type = any ($5::text[]) and payment_id = $7
       order by id desc limit $6`,
      [...values, paymentId],
    );
  }
  // Reads each of the few types from its newest row by the key, so a page costs the same in any table size.
  return await sql.rows(
    `select e.* from unnest($5::text[]) as wanted (type)
     cross join lateral (
       select ${columns} from events where ${ofOwner} and events.type = wanted.type order by id desc limit $6) as e
     order by e.id desc limit $6`,
    values,
  );
}

interface EventPage {
  readonly rows: readonly EventRow[];
  readonly nextPosition: bigint;
  readonly hasMore: boolean;
}

// A filter that matches few events reads all that it passes.
const passedMax = 10_000;

/** Events after the position, oldest first. All that become visible later have greater positions (event-feed.ts). */
export async function listEventsAfter(
  sql: Sql,
  { merchantId, environment }: Owner,
  after: bigint,
  { types, paymentId, limit }: EventFilter,
): Promise<EventPage> {
  const isAfter = "merchant_id = $1 and environment = $2 and position > $3";
  const [passed] = await sql.rows<{ last: string | null; n: string }>(
    `select max(position) as last, count(*) as n from (
       select position from events where ${isAfter} order by position limit ${passedMax}) as passed`,
    [merchantId, environment, after],
  );
  const until = BigInt(passed?.last ?? after);
  const found = await sql.rows<EventRow & { readonly position: string }>(
    `select ${columns} from events where ${isAfter} and position <= $4 and type = any ($5::text[])
       and ($6::text is null or payment_id = $6) order by position limit $7`,
    [merchantId, environment, after, until, types, paymentId ?? null, limit + 1],
  );
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  if (last && found.length > limit) return { rows, nextPosition: BigInt(last.position), hasMore: true };
  return { rows, nextPosition: until, hasMore: Number(passed?.n) === passedMax };
}

/** The owner's event, if its type is public. */
export async function findEvent(sql: Sql, owner: Owner, id: string): Promise<EventRow | undefined> {
  const [row] = await sql.rows<EventRow>(
    `select ${columns} from events where merchant_id = $1 and environment = $2 and id = $3 and type = any ($4::text[])`,
    [owner.merchantId, owner.environment, id, listedCodes],
  );
  return row;
}
