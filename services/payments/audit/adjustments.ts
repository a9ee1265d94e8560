// Audits journal rows without a payment: they must equal the lines of adjustments that two people approved. It uses the
// auditor's own table of accounts.
import type { Sql } from "#platform/database/database.ts";
import { accounts } from "./accounts.ts";

interface AdjustmentDifference {
  /** `adj_…`, or the cause of a stray row. */
  readonly adjustmentId: string;
  /** One sentence each. */
  readonly differences: readonly string[];
}

interface Line {
  readonly position: number;
  readonly currency: string;
  readonly debit: string;
  readonly credit: string;
  readonly amount: string;
}

interface Row {
  readonly id: string;
  /** Null: there is no such adjustment. */
  readonly state: string | null;
  readonly proposed_by: string | null;
  readonly decided_by: string | null;
  readonly owner: string | null;
  readonly lines: readonly Line[];
  readonly posted: readonly (Line & { readonly owner: string; readonly payment: string | null })[];
}

// Few a day; a batch is a page of them.
const batchMax = 500;

const batchText = `
  with causes as (
    select id from journal_adjustments where id > $1
    union select cause from journal where (kind = 'adjusted' or payment_id is null) and cause > $1
    order by 1 limit ${batchMax})
  select c.id, a.state, a.proposed_by, a.decided_by, a.merchant_id || ' ' || a.environment as owner,
    (select coalesce(jsonb_agg(jsonb_build_object('position', l.position, 'currency', l.currency, 'debit', l.debit, 'credit', l.credit,
       'amount', l.amount::text) order by l.position), '[]') from journal_adjustment_lines l where l.adjustment_id = c.id) as lines,
    (select coalesce(jsonb_agg(jsonb_build_object('position', j.occurrence, 'currency', j.currency, 'debit', j.debit, 'credit', j.credit,
       'amount', j.amount::text, 'owner', j.merchant_id || ' ' || j.environment, 'payment', j.payment_id) order by j.occurrence, j.id), '[]')
       from journal j where j.cause = c.id and (j.kind = 'adjusted' or j.payment_id is null)) as posted
  from causes c left join journal_adjustments a on a.id = c.id order by c.id`;

/** @returns number of adjustments checked */
export async function auditAdjustments(sql: Sql, onDifference: (found: AdjustmentDifference) => void): Promise<number> {
  let checked = 0;
  let after = "";
  for (;;) {
    const rows = await sql.rows<Row>(batchText, [after]);
    for (const row of rows) {
      const differences = differencesOf(row);
      if (differences.length > 0) onDifference({ adjustmentId: row.id, differences });
    }
    checked += rows.length;
    if (rows.length < batchMax) return checked;
    after = rows.at(-1)?.id ?? after;
  }
}

function differencesOf({ id, state, proposed_by: by, decided_by: decided, owner, lines, posted }: Row): string[] {
  if (state === null) return [`journal rows of ${id}: there is no such adjustment`];
  const found: string[] = [];
  if (state === "approved" && (!decided || decided === by)) found.push(`${id} was approved without a second person`);
  const expected = state === "approved" ? lines.map(describeLine) : [];
  const actual = posted.map(describeLine);
  if (lines.length === 0) found.push(`${id} has no lines`);
  if (JSON.stringify(expected) !== JSON.stringify(actual)) {
    found.push(`${id} (${state}) must have posted [${expected.join("; ")}], the journal has [${actual.join("; ")}]`);
  }
  for (const row of posted) {
    if (row.owner !== owner) found.push(`a row of ${id}: another merchant or environment`);
    if (row.payment !== null) found.push(`a row of ${id}: it names the payment ${row.payment}`);
    const strange = [row.debit, row.credit].filter((name) => name !== own && !accounts.some((known) => known === name));
    for (const name of strange) found.push(`a row of ${id}: account ${name} is unknown`);
  }
  return found;
}

/** The contra account of corrections: a debit is our loss, a credit our gain. */
const own = "adjustments";

function describeLine({ position, currency, debit, credit, amount }: Line): string {
  return `${position}: ${amount} ${currency} from ${debit} to ${credit}`;
}
