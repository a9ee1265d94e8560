// Compares our books with the processor's movements and payouts. Read-only.
import type { Sql } from "#platform/database/database.ts";
import type { Difference } from "../../rules/statement.ts";
import type { Owner } from "../payment-records.ts";

/**
 * Payments whose money differs between the journal and the processor, movements with our reference that belong to no
 * payment, and payouts that their movements explain in part. An open dispute and a pending refund are at the processor
 * before they are in processor_clearing; unexpected funds are listed themselves.
 * @param window payments and movements that changed between these ages, seconds; those that are listed always count
 */
export async function moneyDifferences(
  sql: Sql,
  { id: accountId, merchantId, environment }: Owner & { readonly id: string },
  { sinceSeconds, untilSeconds }: { readonly sinceSeconds: number; readonly untilSeconds: number },
): Promise<Difference[]> {
  return await sql.rows<Difference & object>(
    `with period as (
       select now() - make_interval(secs => least($2::float, 1e9)) as since, now() - make_interval(secs => $3) as until),
     candidate as (
       select m.payment_id as id from movements m, period
         where m.connector_account_id = $1 and m.posted_at > since and m.posted_at <= until and m.payment_id is not null
       union select p.id from payments p, period
         where p.merchant_id = $4 and p.environment = $5 and p.visible and p.updated_at > since and p.updated_at <= until
           and p.connector_account_id = $1 and p.captured_at is not null
       union select payment_id from statement_differences
         where connector_account_id = $1 and kind = 'clearing' and resolved_at is null),
     sums as (
       select p.id, p.currency,
         (select coalesce(sum(case 'processor_clearing' when debit then amount when credit then -amount end), 0) from journal
          where payment_id = p.id) as booked,
         (select coalesce(sum(coalesce(source_amount, amount)), 0) from movements where payment_id = p.id and is_ours
           and type in ('capture', 'refund', 'refund_failure', 'dispute', 'dispute_reversal')) as moved,
         (select coalesce(sum(amount), 0) from disputes where payment_id = p.id and status in ('needs_response', 'under_review'))
           as disputed,
         (select coalesce(sum(amount), 0) from refunds where payment_id = p.id and status = 'pending') as refunding
       from candidate c join payments p on p.id = c.id
       where not exists (select from suspense u where u.payment_id = p.id and u.state <> 'closed'))
     select 'payment' as object, id as ref, 'clearing' as kind, id as "paymentId", booked || ' ' || currency as ours,
       moved || ' ' || currency as theirs
     from sums where booked - moved not in (0, disputed, refunding, disputed + refunding)
     union all
     select 'movement', m.id, 'unknown_to_us', '', '', m.amount || ' ' || m.currency || ' ' || m.type from movements m, period
     where m.connector_account_id = $1 and m.payment_id is null and m.intent_ref <> '' and m.is_ours and m.posted_at <= until
     union all
     select 'payout', id, 'unattributed', '', lines_amount || ' ' || currency, amount || ' ' || currency from payouts
     where connector_account_id = $1 and lines_amount <> 0 and unattributed_amount <> 0`,
    [accountId, sinceSeconds, untilSeconds, merchantId, environment],
  );
}
