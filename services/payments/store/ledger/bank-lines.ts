// The bank_lines table: lines of bank statements, stored once, and the payout that arrived with each.
import { bigint, boolean, Columns, integer, type RowOf, text } from "#platform/database/columns.ts";
import type { Sql, Tx } from "#platform/database/database.ts";
import { bankLineDaysMax } from "../../rules/payout.ts";

const lineColumns = new Columns({
  iban: text,
  statementId: text,
  position: integer,
  bankRef: text,
  amount: bigint,
  currency: text,
  /** YYYY-MM-DD. */
  bookedOn: text,
  valueOn: text,
  endToEndId: text,
  remittance: text,
  isReversal: boolean,
});

export type NewBankLine = RowOf<typeof lineColumns>;

export interface StoredBankLine extends NewBankLine {
  readonly id: bigint;
  /** Empty: unmatched. */
  readonly payoutId: string;
  /** Unmatched: payouts that fit. */
  readonly candidates: number;
}

// Columns in which a repeated line equals the stored one.
const content = ["amount", "currency", "booked_on", "is_reversal", "bank_ref"];
const sameContent = (one: string, other: string) =>
  `(${content.map((name) => `${one}.${name}`).join(", ")}) = (${content.map((name) => `${other}.${name}`).join(", ")})`;

/**
 * Stores lines that are new: neither at their place of their statement, nor under the bank's reference in another one.
 * @returns the new ones, and a stored line's position with another content; 0: none
 */
export async function insertBankLines(
  tx: Tx,
  lines: readonly NewBankLine[],
): Promise<{ imported: number; contradicted: number }> {
  const accounts = [...new Set(lines.map(({ iban }) => iban))].sort();
  // Imports of one account follow each other, so that none misses a line of another one.
  await tx.rows(
    `select pg_advisory_xact_lock(hashtextextended('bank_lines ' || iban, 0)) from unnest($1::text[]) as iban`,
    [accounts],
  );
  const input = `jsonb_to_recordset($1) as g (${lineColumns.types.replace(/(booked|value)_on text/g, "$1_on date")})`;
  const json = JSON.stringify(lines.map((line) => lineColumns.write(line)));
  const [wrong] = await tx.rows<{ position: number }>(
    `select g.position from ${input} join bank_lines l using (iban, statement_id, position)
     where not ${sameContent("g", "l")} order by 1 limit 1`,
    [json],
  );
  if (wrong) return { imported: 0, contradicted: wrong.position };
  const added = await tx.rows(
    `insert into bank_lines (${lineColumns.names()}) select ${lineColumns.names("g")} from ${input}
     where not exists (select from bank_lines l where l.iban = g.iban and l.bank_ref = g.bank_ref and g.bank_ref <> ''
       and l.statement_id <> g.statement_id and ${sameContent("l", "g")})
     order by g.position on conflict (iban, statement_id, position) do nothing returning id`,
    [json],
  );
  return { imported: added.length, contradicted: 0 };
}

/**
 * Lines and payouts that may belong together: same amount and currency, near the arrival, named in the text. No payout
 * of the sandbox is on a real statement, so its account must be named.
 */
const pairsText = `
  select l.id, po.id as payout_id from bank_lines l join payouts po on po.amount = l.amount and po.currency = l.currency
  where l.payout_id is null and not l.is_reversal and po.status in ('in_transit', 'paid', 'returned')
    and case when $1 = '' then po.environment = 2 else po.connector_account_id = $1 end
    and l.booked_on between po.arrival_date - ${bankLineDaysMax} and po.arrival_date + ${bankLineDaysMax}
    and not exists (select from bank_lines taken where taken.payout_id = po.id)
    and (strpos(lower(l.remittance), lower(po.ref)) > 0
      or (po.statement_descriptor <> '' and strpos(lower(l.remittance), lower(po.statement_descriptor)) > 0))`;

/** Links each line with its only payout that has no other line. @returns how many */
export async function matchBankLines(sql: Sql, connectorAccountId: string): Promise<number> {
  const rows = await sql.rows(
    `with pair as (${pairsText}),
     sole as (
       select id, payout_id, count(*) over (partition by id) as payouts, count(*) over (partition by payout_id) as lines from pair)
     update bank_lines l set payout_id = sole.payout_id from sole
     where l.id = sole.id and l.payout_id is null and sole.payouts = 1 and sole.lines = 1 returning l.id`,
    [connectorAccountId],
  );
  return rows.length;
}

/** The last imported first. */
export async function listBankLines(
  sql: Sql,
  filter: { readonly unmatchedOnly: boolean; readonly limit: number; readonly beforeId: bigint },
): Promise<StoredBankLine[]> {
  const rows = await sql.rows<{ id: string; payout_id: string | null; candidates: number }>(
    `select line.*, (select count(*)::int from (${pairsText}) pair where pair.id = line.id) as candidates from (
       select id, payout_id, ${lineColumns.names()} from bank_lines
       where ($2 = 0 or id < $2) and (not $3 or payout_id is null) order by id desc limit $4) line order by id desc`,
    ["", String(filter.beforeId), filter.unmatchedOnly, filter.limit],
  );
  return rows.map((row) => ({
    ...lineColumns.read(row),
    id: BigInt(row.id),
    payoutId: row.payout_id ?? "",
    candidates: row.candidates,
  }));
}
