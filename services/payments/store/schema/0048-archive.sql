-- Old months leave the database (services/archive): a payment with its rows is one JSON document, which is stored outside, read back,
-- compared and then dropped. Payments with a dispute, a note, unexpected funds, a correction or a difference stay.

-- Other ids of archived payments, so that a late fact finds its payment: `intent CONNECTOR REF`, `refund ID`.
create table archived_keys (
  key text collate "C" primary key,
  payment_id text collate "C" not null
);

-- Sums of journal entries that were archived, so the books stay whole. `archived_month`: of the payments; `booked_month`: of the entries.
create table journal_sums (
  merchant_id text not null,
  environment smallint not null,
  archived_month date not null,
  booked_month date not null,
  currency text not null,
  kind text not null,
  debit text not null,
  credit text not null,
  amount bigint not null check (amount >= 0),
  entries bigint not null check (entries >= 0),
  primary key (merchant_id, environment, archived_month, booked_month, currency, kind, debit, credit),
  check (debit <> credit)
);

-- An archived payment keeps its movements, which are the merchant's balance.
alter table movements drop constraint movements_payment_id_fkey;

-- A delete looks for rows that name the deleted one.
create index operations_of_refund on operations (refund_id) where refund_id is not null;
create index suspense_of_refund on suspense (refund_id) where refund_id is not null;
create index statement_differences_of_payment on statement_differences (payment_id) where payment_id is not null;
create index journal_adjustments_about on journal_adjustments (about_payment_id) where about_payment_id is not null;

-- Documents of payments that can leave the database, without personal data, ciphertext and cards. `offset 0`: PostgreSQL looks each payment up
-- instead of joining, for which a page would read all operations.
create view archivable as
select p.id, p.merchant_id, p.environment, p.status, p.currency, p.amount, p.captured_amount, p.refunded_amount, p.fee_amount, p.order_reference,
  p.connector, p.connector_ref, p.created_at, p.captured_at,
  jsonb_build_object('id', p.id,
    'payment', to_jsonb(p) - array['render', 'reroute_to', 'card_brand', 'card_last4', 'card_funding', 'card_exp_month', 'card_exp_year',
      'card_fingerprint', 'erased_at']
      || jsonb_build_object('customer_email', '', 'description', '', 'metadata', '{}'::jsonb, 'receipt_url', '', 'method', p.method - 'bank'),
    'attempts', (select coalesce(jsonb_agg(
        to_jsonb(a) - array['card_brand', 'card_last4'] || jsonb_build_object('method', a.method - 'bank') order by a.ref), '[]')
      from attempts a where a.payment_id = p.id),
    'refunds', (select coalesce(jsonb_agg(to_jsonb(r) || '{"reason": ""}' order by r.id), '[]') from refunds r where r.payment_id = p.id),
    'operations', (select coalesce(jsonb_agg(to_jsonb(o) - 'sealed_order' order by o.id), '[]') from operations o where o.payment_id = p.id),
    'operation_history', (select coalesce(jsonb_agg(to_jsonb(h) order by h.id), '[]')
      from operation_history h join operations o on o.id = h.operation_id where o.payment_id = p.id),
    'journal', (select coalesce(jsonb_agg(to_jsonb(j) order by j.id), '[]') from journal j where j.payment_id = p.id)) as document
from payments p
where p.next_check_at is null and (p.outcome in ('failed', 'canceled') or p.captured_at is not null) and p.dispute_hold = 'none'
  and not exists (select from refunds r where r.payment_id = p.id and r.status = 'pending' offset 0)
  and not exists (select from operations o where o.payment_id = p.id and o.state <> 'done' offset 0)
  and not exists (select from disputes d where d.payment_id = p.id offset 0)
  and not exists (select from suspense s where s.payment_id = p.id offset 0)
  and not exists (select from payment_notes n where n.payment_id = p.id offset 0)
  and not exists (select from statement_differences d where d.payment_id = p.id offset 0)
  and not exists (select from journal_adjustments c where c.about_payment_id = p.id offset 0);

-- Only functions of the owner delete, and only here.
create or replace function journal_is_append_only() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('tollbooth.archive', true) = 'on' then return old; end if;
  raise exception 'the journal is append-only; write a reversing entry' using errcode = 'check_violation';
end $$;

create or replace view ledger as
with entry as (
  select 'je_' || j.id as id, j.merchant_id, j.environment, ''::text as connector_account_id, j.payment_id, j.kind, j.cause, j.debit, j.credit,
    j.amount, j.currency, coalesce(j.captured_at, j.created_at) as occurred_at, j.created_at as posted_at, 1::bigint as entries
  from journal j
  union all
  select concat_ws('.', 'archived', s.archived_month, s.booked_month, s.merchant_id, s.environment, s.currency, s.kind, s.debit, s.credit),
    s.merchant_id, s.environment, '', null, s.kind, 'archived ' || to_char(s.archived_month, 'YYYY-MM'), s.debit, s.credit, s.amount, s.currency,
    s.booked_month::timestamp at time zone 'UTC', s.booked_month::timestamp at time zone 'UTC', s.entries
  from journal_sums s
  union all
  select m.id || part.suffix, m.merchant_id, m.environment, m.connector_account_id, m.payment_id, m.type, m.id,
    case when part.amount > 0 then part.account else part.other end, case when part.amount > 0 then part.other else part.account end,
    abs(part.amount), part.currency, m.occurred_at, m.posted_at, 1
  from movements m
  join movement_postings p on p.type = m.type
  cross join lateral (select case when p.amount_account <> 'processor_clearing' or m.is_ours then p.amount_account
    else 'outside_payments' end as account) own
  cross join lateral (values
    ('', 'processor_balance', case when m.source_currency is null then own.account else 'fx_difference' end, m.amount, m.currency),
    ('.fee', 'processor_balance', p.fee_account, -m.fee, m.currency),
    ('.source', 'fx_difference', own.account, m.source_amount, m.source_currency)) as part (suffix, account, other, amount, currency)
  where part.amount <> 0
  union all
  select po.id || at_bank.suffix, po.merchant_id, po.environment, po.connector_account_id, null, at_bank.kind, po.id,
    case when po.amount > 0 then at_bank.debit else at_bank.credit end, case when po.amount > 0 then at_bank.credit else at_bank.debit end,
    abs(po.amount), po.currency, at_bank.at, at_bank.posted_at, 1
  from payouts po
  cross join lateral (values
    ('.paid', 'payout_paid', 'bank', 'payouts_in_transit', po.paid_at, po.paid_posted_at),
    ('.returned', 'payout_returned', 'payouts_in_transit', 'bank', po.returned_at, po.returned_posted_at))
    as at_bank (suffix, kind, debit, credit, at, posted_at)
  where at_bank.at is not null)
select entry.id, merchant_id, environment, connector_account_id, payment_id, kind, cause, debit, credit, amount, currency, occurred_at, posted_at,
  case when exists (
    select from month_closes c where c.month >= date_trunc('month', entry.occurred_at at time zone 'UTC')::date and c.closed_at <= entry.posted_at)
  then entry.posted_at else entry.occurred_at end as booked_at,
  entries
from entry;

-- Sums of these payments' journal entries.
create function sum_entries(ids text[]) returns table (merchant_id text, environment smallint, booked_month date, currency text, kind text,
  debit text, credit text, amount bigint, entries bigint) language sql stable as $$
  select l.merchant_id, l.environment, date_trunc('month', l.booked_at at time zone 'UTC')::date, l.currency, l.kind, l.debit, l.credit,
    sum(l.amount)::bigint, count(*)
  from ledger l where l.payment_id = any(ids) and l.id like 'je\_%' group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
$$;

-- Other ids of these payments.
create function keys_of(ids text[]) returns table (key text, payment_id text) language sql stable as $$
  select 'intent ' || connector || ' ' || connector_ref, id from payments where id = any(ids) and connector_ref is not null
  union all select 'intent ' || former_connector || ' ' || former_ref, id from payments where id = any(ids) and former_ref is not null
  union all select 'refund ' || id, payment_id from refunds where payment_id = any(ids)
$$;

-- Drops the payments whose rows still are what their documents contain. @returns how many
create function drop_archived(of_month date, documents jsonb) returns integer language plpgsql security definer as $$
declare
  given text[] := (select array_agg(d ->> 'id') from jsonb_array_elements(documents) d);
  ids text[];
  emails jsonb;
begin
  perform from payments where id = any(given) order by id for update;
  -- Materialized: each document is made once.
  with filed as materialized (select d ->> 'id' as id, d as document from jsonb_array_elements(documents) d),
    stored as materialized (select id, document from archivable where id = any(given))
  select array_agg(stored.id) into ids from stored join filed using (id) where stored.document = filed.document;
  select jsonb_agg(distinct jsonb_build_array(merchant_id, environment, customer_email)) into emails
    from payments where id = any(ids) and customer_email <> '';
  insert into journal_sums as s
    select e.merchant_id, e.environment, of_month, e.booked_month, e.currency, e.kind, e.debit, e.credit, e.amount, e.entries from sum_entries(ids) e
  on conflict (merchant_id, environment, archived_month, booked_month, currency, kind, debit, credit)
    do update set amount = s.amount + excluded.amount, entries = s.entries + excluded.entries;
  insert into archived_keys select key, payment_id from keys_of(ids);
  perform set_config('tollbooth.archive', 'on', true);
  delete from operation_history h using operations o where o.id = h.operation_id and o.payment_id = any(ids);
  delete from operations where payment_id = any(ids);
  delete from refunds where payment_id = any(ids);
  delete from attempts where payment_id = any(ids);
  delete from journal where payment_id = any(ids);
  delete from payments where id = any(ids);
  perform set_config('tollbooth.archive', '', true);
  delete from customer_emails c using jsonb_array_elements(emails) e
    where (c.merchant_id, c.environment, c.email) = (e ->> 0, (e ->> 1)::smallint, e ->> 2) and not exists (select from payments o
      where o.merchant_id = c.merchant_id and o.environment = c.environment and o.visible and o.customer_email <> '' and o.customer_email = c.email);
  return coalesce(array_length(ids, 1), 0);
end $$;

-- Restores the payments of these documents that are not in the database. @returns how many
create function restore_archived(of_month date, documents jsonb) returns integer language plpgsql security definer as $$
declare
  missing jsonb := (select coalesce(jsonb_agg(d), '[]') from jsonb_array_elements(documents) d
    where not exists (select from payments p where p.id = d ->> 'id'));
  ids text[] := (select array_agg(d ->> 'id') from jsonb_array_elements(missing) d);
  part text;
  expected integer;
  taken integer;
begin
  perform insert_rows('payments', (select coalesce(jsonb_agg(d -> 'payment'), '[]') from jsonb_array_elements(missing) d));
  foreach part in array array['attempts', 'refunds', 'operations', 'operation_history', 'journal'] loop
    perform insert_rows(part::regclass, (select coalesce(jsonb_agg(r), '[]') from jsonb_array_elements(missing) d, jsonb_array_elements(d -> part) r));
  end loop;
  with taken_off as (
    update journal_sums s set amount = s.amount - e.amount, entries = s.entries - e.entries from sum_entries(ids) e
    where (s.merchant_id, s.environment, s.archived_month, s.booked_month) = (e.merchant_id, e.environment, of_month, e.booked_month)
      and (s.currency, s.kind, s.debit, s.credit) = (e.currency, e.kind, e.debit, e.credit) returning 1)
  select (select count(*) from sum_entries(ids)), count(*) into expected, taken from taken_off;
  if expected <> taken then raise exception 'the sums of % lack entries of its archived payments', of_month using errcode = 'check_violation'; end if;
  delete from journal_sums where archived_month = of_month and entries = 0;
  delete from archived_keys k using keys_of(ids) r where k.key = r.key;
  return coalesce(array_length(ids, 1), 0);
end $$;

-- They run as the owner; `migrate` opens them to the service.
revoke execute on function erase_payments, drop_archived, restore_archived from public;
