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
}

interface EventFilter {
  readonly types: readonly string[];
  readonly paymentId: string | undefined;
  readonly fromId: string;
  /** Exclusive. */
  readonly untilId: string;
  readonly limit: number;
}

const columns = "id, type, payment_id, body";
const ofOwner = "merchant_id = $1 and environment = $2 and id >= $3 and id < $4";

/** Newest first. */
export async function listEvents(sql: Sql, owner: Owner, filter: EventFilter): Promise<EventRow[]> {
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

/** The owner's event, if its type is public. */
export async function findEvent(sql: Sql, owner: Owner, id: string): Promise<EventRow | undefined> {
  const [row] = await sql.rows<EventRow>(
    `select ${columns} from events where merchant_id = $1 and environment = $2 and id = $3 and type = any ($4::text[])`,
    [owner.merchantId, owner.environment, id, listedCodes],
  );
  return row;
}
