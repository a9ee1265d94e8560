// The account's events in the order of creation.
import type { Db } from "./pool.ts";

export interface ListedEvent {
  readonly seq: number;
  readonly created_at: Date;
  /** The exact body of the webhook. */
  readonly body: string;
}

interface EventListPage {
  readonly account: string;
  /** Included. */
  readonly from: Date;
  /** Included. */
  readonly until: Date;
  readonly limit: number;
  /** Last event of the page before. */
  readonly after: { readonly created_at: Date; readonly seq: number };
}

export async function listAccountEvents(db: Db, page: EventListPage): Promise<ListedEvent[]> {
  const { rows } = await db.query<ListedEvent>({
    name: "list-account-events",
    text: `select e.seq, e.created_at, e.body from events e join intents i on i.id = e.intent_id
      where e.account = $1 and e.created_at between $2 and $3
        and e.created_at >= $4 and (e.created_at > $4 or e.seq > $5) and i.lost_at is null
      order by e.created_at, e.seq limit $6`,
    values: [page.account, page.from, page.until, page.after.created_at, page.after.seq, page.limit],
  });
  return rows;
}

/** The newest events up to `until`, oldest first. */
export async function newestAccountEvents(
  db: Db,
  { account, until, limit }: Pick<EventListPage, "account" | "until" | "limit">,
): Promise<ListedEvent[]> {
  const { rows } = await db.query<ListedEvent>({
    name: "newest-account-events",
    text: `select e.seq, e.created_at, e.body from events e join intents i on i.id = e.intent_id
      where e.account = $1 and e.created_at <= $2 and i.lost_at is null
      order by e.created_at desc, e.seq desc limit $3`,
    values: [account, until, limit],
  });
  return rows.reverse();
}
