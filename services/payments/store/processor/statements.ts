// Tables of the statement match: reads our lines, and stores how far each account was matched and the differences.

import { Columns, optionalColumn, type RowOf, sqlColumn, text, time } from "#platform/database/columns.ts";
import { parseTime, type Sql } from "#platform/database/database.ts";
import { type Difference, findingKinds, type OurLine, type StatementObject } from "../../rules/statement.ts";
import { nullableText } from "../payment-columns.ts";

interface LineRow {
  object: StatementObject;
  ref: string;
  payment_id: string;
  amount: string;
  currency: string;
  status: string;
}

const ourLines = `
  select 'payment' as object, p.connector_ref as ref, p.id as payment_id, p.captured_amount as amount, p.currency, '' as status,
    p.connector, p.connector_account_id from payments p where p.connector_ref is not null
  union all
  select 'refund', r.connector_ref, p.id, r.amount, p.currency, r.status, r.connector, p.connector_account_id
    from refunds r join payments p on p.id = r.payment_id where r.connector_ref is not null
  union all
  select 'dispute', d.connector_ref, p.id, d.amount, p.currency, d.status, d.connector, p.connector_account_id
    from disputes d join payments p on p.id = d.payment_id`;

/** Our lines for the processor's ids in one account. */
export async function linesByRef(
  sql: Sql,
  account: { id: string; connector: string },
  refs: readonly string[],
): Promise<OurLine[]> {
  const rows = await sql.rows<LineRow>(
    `select * from (${ourLines}) as line
     where line.connector = $2 and line.ref = any($3::text[]) and line.connector_account_id = $1`,
    [account.id, account.connector, refs],
  );
  return rows.map(lineOf);
}

/**
 * Lines that the processor's statement must have: payments captured in the period, their succeeded refunds and
 * disputes.
 * @param after the last payment of the page before
 */
export async function capturedIn(
  sql: Sql,
  accountId: string,
  period: { from: Date; to: Date },
  after: { capturedAt: string; id: string },
  limit: number,
): Promise<{ lines: OurLine[]; next: { capturedAt: string; id: string } | undefined }> {
  const payments = await sql.rows<{ id: string; captured_at: string }>(
    `select id, captured_at::text from payments
     where connector_account_id = $1 and captured_at >= $2 and captured_at < $3
       and captured_at >= $4::timestamptz and (captured_at > $4::timestamptz or id > $5)
     order by captured_at, id limit $6`,
    [accountId, period.from.toISOString(), period.to.toISOString(), after.capturedAt, after.id, limit],
  );
  const rows = await sql.rows<LineRow>(
    `select * from (${ourLines}) as line where line.payment_id = any($1::text[]) and line.status <> 'failed'
       and line.status <> 'canceled' and line.status <> 'pending'`,
    [payments.map(({ id }) => id)],
  );
  const last = payments.length === limit ? payments.at(-1) : undefined;
  return { lines: rows.map(lineOf), next: last && { capturedAt: last.captured_at, id: last.id } };
}

/** An explained difference stays closed while both sides stay the same. */
const isExplained = "(d.explained_by <> '' and d.ours = excluded.ours and d.theirs = excluded.theirs)";

/** Stores differences; a stored one is marked as found again. @returns how many are new */
export async function recordDifferences(sql: Sql, accountId: string, found: readonly Difference[]): Promise<number> {
  if (found.length === 0) return 0;
  const rows = await sql.rows<{ fresh: boolean }>(
    `insert into statement_differences as d (connector_account_id, object, ref, kind, payment_id, ours, theirs)
     select $1, object, ref, kind, nullif(payment_id, ''), ours, theirs
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
       as found (object, ref, kind, payment_id, ours, theirs)
     on conflict (connector_account_id, object, ref, kind) do update set last_found_at = now(),
       resolved_at = case when ${isExplained} then d.resolved_at end,
       explained_by = case when ${isExplained} then d.explained_by else '' end,
       note = case when ${isExplained} then d.note else '' end,
       ours = excluded.ours, theirs = excluded.theirs
     returning found_at = last_found_at as fresh`,
    [
      accountId,
      found.map((d) => d.object),
      found.map((d) => d.ref),
      found.map((d) => d.kind),
      found.map((d) => d.paymentId),
      found.map((d) => d.ours),
      found.map((d) => d.theirs),
    ],
  );
  return rows.filter(({ fresh }) => fresh).length;
}

/** Resolves the differences of objects on which both sides agree. */
export async function resolveDifferences(sql: Sql, accountId: string, refs: readonly string[]): Promise<number> {
  const rows = await sql.rows(
    `update statement_differences set resolved_at = now()
     where connector_account_id = $1 and ref = any($2::text[]) and resolved_at is null returning id`,
    [accountId, refs],
  );
  return rows.length;
}

/** Findings of the journal's check, which reaches no rule of the books. */
export function journalFindings(sql: Sql) {
  return {
    async record(object: "payment" | "adjustment", ref: string, differences: readonly string[]): Promise<void> {
      const about = { object, ref, paymentId: object === "payment" ? ref : "", kind: "journal_difference" } as const;
      await recordDifferences(sql, "", [{ ...about, ours: differences.join("; "), theirs: "" }]);
    },
    async resolve(
      object: "payment" | "adjustment",
      { after, last, found }: { readonly after: string; readonly last: string; readonly found: readonly string[] },
    ): Promise<void> {
      await sql.rows(
        `update statement_differences set resolved_at = now() where resolved_at is null and kind = 'journal_difference'
           and object = $1 and ref > $2 and ($3 = '' or ref <= $3) and not ref = any($4::text[])`,
        [object, after, last, found],
      );
    },
  };
}

/** Closes an open difference for a reason that a later check cannot see. @returns undefined: not found, or closed */
export async function explainDifference(
  sql: Sql,
  id: bigint,
  { operator, note }: { readonly operator: string; readonly note: string },
): Promise<StoredDifference | undefined> {
  const [row] = await sql.rows<object>(
    `update statement_differences set resolved_at = now(), explained_by = $2, note = $3
     where id = $1 and resolved_at is null returning *`,
    [id, operator, note],
  );
  return row && differenceColumns.read(row);
}

/** Resolves listed differences of money that are not found any more. */
export async function resolveMoneyDifferences(
  sql: Sql,
  accountId: string,
  found: readonly Pick<Difference, "kind" | "ref">[],
): Promise<void> {
  await sql.rows(
    `update statement_differences d set resolved_at = now()
     where connector_account_id = $1 and resolved_at is null and object in ('payment', 'movement', 'payout', 'balance')
       and kind in ('clearing', 'unknown_to_us', 'unattributed', 'balance') and (kind <> 'unknown_to_us' or object = 'movement')
       and not exists (select from unnest($2::text[], $3::text[]) as f (kind, ref) where f.kind = d.kind and f.ref = d.ref)`,
    [accountId, found.map(({ kind }) => kind), found.map(({ ref }) => ref)],
  );
}

const differenceColumns = new Columns({
  id: text,
  connectorAccountId: text,
  object: sqlColumn<Difference["object"]>("text"),
  ref: text,
  kind: sqlColumn<Difference["kind"]>("text"),
  paymentId: nullableText,
  ours: text,
  theirs: text,
  foundAt: time,
  lastFoundAt: time,
  resolvedAt: optionalColumn(time),
  explainedBy: text,
  note: text,
});

export type StoredDifference = RowOf<typeof differenceColumns>;

/** Newest first. @param filter `accountId` empty: every account */
export async function listDifferences(
  sql: Sql,
  filter: { accountId: string; openOnly: boolean },
  window: { limit: number; beforeId: bigint },
): Promise<StoredDifference[]> {
  const rows = await sql.rows<object>(
    `select * from statement_differences where ($1 = '' or connector_account_id = $1) and (not $2 or resolved_at is null)
       and ($3::bigint = 0 or id < $3::bigint) order by id desc limit $4`,
    [filter.accountId, filter.openOnly, window.beforeId, window.limit],
  );
  return rows.map((row) => differenceColumns.read(row));
}

/** Of the statements, without other findings. */
export async function countOpenDifferences(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ n: string }>(
    `select count(*) as n from statement_differences where resolved_at is null and kind <> all($1::text[])`,
    [findingKinds],
  );
  return Number(row?.n ?? 0);
}

/** Resolves findings about payments that their processor has decided at last. */
export async function resolveDecided(sql: Sql): Promise<void> {
  await sql.rows(
    `update statement_differences d set resolved_at = now() from payments p
     where d.resolved_at is null and d.kind = 'processing_too_long' and p.id = d.payment_id and p.outcome <> 'processing'`,
  );
}

/** Open findings by the kind of their alert. */
export async function countFindings(sql: Sql): Promise<{ kind: string; n: number }[]> {
  return await sql.rows<{ kind: string; n: number }>(
    `select case when kind = any($1::text[]) then kind else 'statement_difference' end as kind, count(*)::int as n
       from statement_differences where resolved_at is null group by 1
     union all select kind, count(*)::int from suspense where state <> 'closed' group by 1
     union all select 'operation_parked', count(*)::int from operations where state = 'parked' having count(*) > 0`,
    [findingKinds],
  );
}

/** Accounts with a capture, by jumps over an index, as `account (id)` of a recursive `with`. */
export const capturingAccounts = `account (id) as (
  (select connector_account_id from payments where captured_at is not null order by connector_account_id limit 1)
  union all
  select (select p.connector_account_id from payments p where p.captured_at is not null and p.connector_account_id > account.id
    order by p.connector_account_id limit 1) from account where account.id is not null)`;

/** Adds accounts that were never matched, beginning a day before their first capture. */
export async function addNewAccounts(sql: Sql): Promise<void> {
  await sql.rows(
    `with recursive ${capturingAccounts}
     insert into statement_matches (connector_account_id, matched_until)
     select id, (select min(captured_at) from payments p where p.connector_account_id = account.id) - interval '1 day'
     from account where id is not null on conflict do nothing`,
  );
}

/** Leases the account that has been due the longest. */
export async function claimMatch(
  sql: Sql,
  leaseSeconds: number,
): Promise<{ accountId: string; matchedUntil: Date } | undefined> {
  const [row] = await sql.rows<{ connector_account_id: string; matched_until: string }>(
    `update statement_matches set due_at = now() + make_interval(secs => $1) where connector_account_id =
       (select connector_account_id from statement_matches where due_at <= now() order by due_at limit 1 for update skip locked)
     returning connector_account_id, matched_until`,
    [leaseSeconds],
  );
  return row && { accountId: row.connector_account_id, matchedUntil: parseTime(row.matched_until) };
}

/** Stores how far an account was matched and when it continues. */
export async function finishMatch(
  sql: Sql,
  accountId: string,
  done: { matchedUntil: Date; pauseSeconds: number; error: string },
): Promise<void> {
  await sql.rows(
    `update statement_matches set matched_until = $2, due_at = now() + make_interval(secs => $3), last_error = $4
     where connector_account_id = $1`,
    [accountId, done.matchedUntil.toISOString(), done.pauseSeconds, done.error.slice(0, 500)],
  );
}

function lineOf(row: LineRow): OurLine {
  const { object, ref, currency, status } = row;
  return { object, ref, paymentId: row.payment_id, amount: BigInt(row.amount), currency, status };
}
