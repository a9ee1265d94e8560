// The account statement: money movements of a period in order, in pages.
import type { Db } from "./pool.ts";

export interface StatementRow {
  readonly type: "intent" | "refund" | "dispute";
  readonly id: string;
  readonly intent: string;
  readonly reference: string | null;
  readonly intent_reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: string;
  readonly reason: string | null;
  readonly failure_code: string | null;
  readonly moved_at: Date;
}

interface StatementPage {
  readonly account: string;
  readonly from: Date;
  /** Not included. */
  readonly to: Date;
  readonly limit: number;
  /** Last row of the page before. */
  readonly after: { readonly moved_at: Date; readonly id: string };
}

export async function readStatement(db: Db, page: StatementPage): Promise<StatementRow[]> {
  const { rows } = await db.query<StatementRow>({
    name: "statement",
    text: `select * from (
      (select 'intent' as type, i.id, i.id as intent, i.reference, i.reference as intent_reference,
          i.captured_amount as amount, i.currency, i.status, null as reason, null as failure_code, i.paid_at as moved_at
        from intents i where i.account = $1 and i.paid_at >= $2 and i.paid_at < $3
          and i.paid_at >= $5 and (i.paid_at > $5 or i.id > $6) and i.lost_at is null
        order by i.paid_at, i.id limit $4)
      union all
      (select 'intent', i.id, i.id, i.reference, i.reference, i.captured_amount, i.currency, i.status, null,
          'debit_returned', i.returned_at
        from intents i where i.account = $1 and i.paid_at is null and i.returned_at >= $2 and i.returned_at < $3
          and i.returned_at >= $5 and (i.returned_at > $5 or i.id > $6) and i.lost_at is null
        order by i.returned_at, i.id limit $4)
      union all
      (select 'refund', r.id, r.intent_id, r.reference, i.reference, r.amount, i.currency, r.status, r.reason,
          r.failure_code, r.moved_at
        from refunds r join intents i on i.id = r.intent_id
        where r.account = $1 and r.moved_at >= $2 and r.moved_at < $3
          and r.moved_at >= $5 and (r.moved_at > $5 or r.id > $6) and i.lost_at is null
        order by r.moved_at, r.id limit $4)
      union all
      (select 'dispute', d.id, d.intent_id, null, i.reference, d.amount, i.currency, d.status, d.reason, null, d.moved_at
        from disputes d join intents i on i.id = d.intent_id
        where d.account = $1 and d.moved_at >= $2 and d.moved_at < $3
          and d.moved_at >= $5 and (d.moved_at > $5 or d.id > $6) and i.lost_at is null
        order by d.moved_at, d.id limit $4)
      ) moves order by moved_at, id limit $4`,
    values: [page.account, page.from, page.to, page.limit, page.after.moved_at, page.after.id],
  });
  return rows;
}
