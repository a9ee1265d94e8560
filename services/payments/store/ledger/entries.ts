// Reads the view `ledger`: entries of a period page by page, and sums by account. It grows without bound, so each
// statement reads a window of time or one merchant.
import { bigint, Columns, type RowOf, sqlColumn, text, time } from "#platform/database/columns.ts";
import type { Database, Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";

const entryColumns = new Columns({
  id: text,
  merchantId: text,
  environment: sqlColumn<Environment>("smallint"),
  connectorAccountId: text,
  paymentId: sqlColumn<string | null>("text"),
  kind: text,
  cause: text,
  debit: text,
  credit: text,
  amount: bigint,
  currency: text,
  occurredAt: time,
  postedAt: time,
  bookedAt: time,
});

export type LedgerRow = RowOf<typeof entryColumns>;

/** The last entry of a page; its time has microseconds. */
export interface EntryPosition {
  readonly bookedAt: string;
  readonly id: string;
}

export interface EntryFilter {
  readonly from: Date;
  readonly to: Date;
  /** Empty: all. */
  readonly merchantId: string;
  /** Unspecified: both. */
  readonly environment: Environment;
}

const hourMs = 3_600_000;

/** A page by booked_at and id. An entry counts when it occurred or when it was written, and both have indexes. */
const pageText = `
  select ${entryColumns.names()}, booked_at::text as exactly from ledger
  where ((occurred_at >= $1::timestamptz and occurred_at < $2::timestamptz)
      or (posted_at >= $1::timestamptz and posted_at < $2::timestamptz))
    and booked_at >= $1::timestamptz and booked_at < $2::timestamptz
    and booked_at >= $3::timestamptz and (booked_at > $3::timestamptz or id collate "C" > $4)
    and ($5 = '' or merchant_id = $5) and ($6 = 0 or environment = $6)
  order by booked_at, id collate "C" limit $7`;

/** Sorts an hour at a time, and longer ones while there is little in them. */
export async function readEntryPage(
  db: Database,
  { from, to, merchantId, environment }: EntryFilter,
  after: EntryPosition | undefined,
  limit: number,
): Promise<{ entries: LedgerRow[]; next: EntryPosition | undefined }> {
  return await db.snapshot(async (sql) => {
    const entries: LedgerRow[] = [];
    let last = after;
    let start = after ? new Date(after.bookedAt) : from;
    for (let lengthMs = hourMs; start < to; lengthMs *= 2) {
      const end = new Date(Math.min(start.getTime() + lengthMs, to.getTime()));
      const [since, until] = [start.toISOString(), end.toISOString()];
      const { bookedAt, id } = after ?? { bookedAt: since, id: "" };
      const values = [since, until, bookedAt, id, merchantId, environment, limit - entries.length];
      const rows = await sql.rows<{ id: string; exactly: string }>(pageText, values);
      for (const row of rows) {
        entries.push(entryColumns.read(row));
        last = { bookedAt: row.exactly, id: row.id };
      }
      if (entries.length === limit) return { entries, next: last };
      start = end;
    }
    return { entries, next: undefined };
  });
}

const earliest = (than: string) =>
  `least(${["journal", "journal_sums", "movements", "payouts"]
    .map((table) => `(select min(merchant_id) from ${table} where merchant_id > ${than})`)
    .join(", ")})`;

/** Merchants with entries after this one, found by jumps over indexes. */
export async function merchantsInBooks(sql: Sql, after: string, limit: number): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `with recursive jump as (
       select ${earliest("$1")} as id union all select ${earliest("jump.id")} from jump where jump.id is not null)
     select id from jump where id is not null limit $2`,
    [after, limit],
  );
  return rows.map(({ id }) => id);
}

/** Debits and credits of an account, minor units. */
export interface AccountSum {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly currency: string;
  readonly account: string;
  readonly debit: bigint;
  readonly credit: bigint;
  /** Entries since the given time that debit the account. */
  readonly entries: bigint;
}

/**
 * Sums of a merchant's accounts, of entries booked before a time; undefined: all. Looking for a close is the dear part,
 * so it is left out where both times of an entry decide.
 * @param since entries from then on are counted
 */
export async function sumAccounts(
  sql: Sql,
  merchantId: string,
  before: Date | undefined,
  since?: Date,
): Promise<AccountSum[]> {
  const rows = await sql.rows<
    Record<"currency" | "account" | "debit" | "credit" | "entries", string> & { environment: Environment }
  >(
    `select environment, currency, side.account, sum(side.debit)::bigint as debit, sum(side.credit)::bigint as credit,
       coalesce(sum(entries) filter (where side.debit > 0 and $3::timestamptz <= greatest(occurred_at, posted_at)
         and ($3::timestamptz <= least(occurred_at, posted_at) or booked_at >= $3::timestamptz)), 0) as entries
     from ledger
     cross join lateral (values (ledger.debit, amount, 0), (ledger.credit, 0, amount)) as side (account, debit, credit)
     where merchant_id = $1 and ($2::timestamptz > greatest(occurred_at, posted_at) or booked_at < $2::timestamptz)
     group by environment, currency, side.account`,
    [merchantId, before?.toISOString() ?? "infinity", since?.toISOString() ?? "-infinity"],
  );
  return rows
    .map(({ environment, currency, account, debit, credit, entries }) => ({
      ...{ merchantId, environment, currency, account },
      ...{ debit: BigInt(debit), credit: BigInt(credit), entries: BigInt(entries) },
    }))
    .sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

function keyOf({ environment, currency, account }: AccountSum): string {
  return `${environment} ${currency} ${account}`;
}

/** The chart of accounts. */
export async function readChart(sql: Sql): Promise<{ code: string; type: string; normalSide: string }[]> {
  return await sql.rows(
    `select code, type, normal_side as "normalSide" from ledger_accounts order by type, code collate "C"`,
  );
}
