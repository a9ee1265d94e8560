-- Money at processors: what each processor did with an account's balance, and its payouts to the bank. Rows are facts of the processor; the
-- view `ledger` adds the accounts that they debit and credit to the journal.

create table movements (
  id text primary key check (id ~ '^txn_[0-9a-hjkmnp-tv-z]{26}$'),
  merchant_id text not null,
  environment smallint not null check (environment in (1, 2)),
  connector_account_id text not null,
  -- The processor's id; of a platform fee the id of its journal row.
  ref text collate "C" not null,
  type text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- Effect on the balance before the processor's fee, minor units.
  amount bigint not null,
  -- What the processor kept; below zero: returned.
  fee bigint not null default 0,
  net bigint not null generated always as (amount - fee) stored,
  -- Before the processor converted it; null: it did not.
  source_amount bigint,
  source_currency text check (source_currency ~ '^[A-Z]{3}$'),
  -- It carries our reference.
  is_ours boolean not null,
  -- The processor's ids of its intent, and of its refund, dispute or payout; empty: none.
  intent_ref text collate "C" not null default '',
  object_ref text collate "C" not null default '',
  payment_id text references payments,
  refund_id text,
  dispute_id text,
  -- The payout that contains it; the payout's own movement is in none.
  payout_id text,
  -- The processor's value date.
  occurred_at timestamptz not null,
  -- When it can be paid out.
  available_at timestamptz not null,
  posted_at timestamptz not null default now(),
  unique (connector_account_id, ref),
  constraint movements_type check (type in ('capture', 'refund', 'refund_failure', 'fee', 'processor_fee', 'dispute', 'dispute_reversal',
    'dispute_fee', 'adjustment', 'payout', 'payout_failure', 'reserve', 'release')),
  constraint movements_direction check (case
    when type in ('capture', 'refund_failure', 'dispute_reversal', 'payout_failure', 'release') then amount >= 0
    when type in ('refund', 'dispute', 'payout', 'reserve') then amount <= 0
    else true end),
  constraint movements_converted check ((source_amount is null) = (source_currency is null) and source_currency <> currency),
  check (available_at >= occurred_at)
);
create index movements_newest on movements (merchant_id, environment, occurred_at desc, id desc) include (currency, net, type);
create index movements_available on movements (merchant_id, environment, available_at) include (currency, net, type);
create index movements_of_payment on movements (payment_id) where payment_id is not null;
create index movements_of_payout on movements (payout_id, id) where payout_id is not null;
create index movements_posted on movements (connector_account_id, posted_at);
create index movements_unlinked on movements (connector_account_id) where payment_id is null and intent_ref <> '';

-- A fact stays as it is; what it belongs to may be found later.
create function movement_stays() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or to_jsonb(new) - array['payment_id', 'refund_id', 'dispute_id', 'payout_id', 'net']
      is distinct from to_jsonb(old) - array['payment_id', 'refund_id', 'dispute_id', 'payout_id', 'net']
    or old.payment_id <> new.payment_id or old.refund_id <> new.refund_id or old.dispute_id <> new.dispute_id
    or (old.payment_id is not null and new.payment_id is null) or (old.payout_id is not null and new.payout_id is distinct from old.payout_id)
  then raise exception 'a movement is a fact and is never changed' using errcode = 'check_violation'; end if;
  return new;
end $$;
create trigger movement_stays before update or delete on movements for each row execute function movement_stays();

-- Sums by UTC day, so that the balance at any time is a short sum. Minor units.
create table movement_days (
  merchant_id text not null,
  environment smallint not null,
  currency text not null,
  day date not null,
  -- Net of what occurred that day, and of what became available. Without platform fees.
  occurred bigint not null default 0,
  available bigint not null default 0,
  -- Moved into the processor's reserve.
  reserved bigint not null default 0,
  -- Platform fees that the processor did not take.
  fees_due bigint not null default 0,
  primary key (merchant_id, environment, currency, day)
);

create function count_movements() returns trigger language plpgsql as $$
begin
  insert into movement_days as d (merchant_id, environment, currency, day, occurred, available, reserved, fees_due)
  select merchant_id, environment, currency, day, sum(occurred), sum(available), sum(reserved), sum(fees_due) from (
    select merchant_id, environment, currency, (occurred_at at time zone 'UTC')::date as day,
      case when type = 'fee' then 0 else net end as occurred, 0 as available,
      case when type in ('reserve', 'release') then -net else 0 end as reserved,
      case when type = 'fee' then -net else 0 end as fees_due from added
    union all
    select merchant_id, environment, currency, (available_at at time zone 'UTC')::date, 0, net, 0, 0 from added where type <> 'fee') parts
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (merchant_id, environment, currency, day) do update set occurred = d.occurred + excluded.occurred,
    available = d.available + excluded.available, reserved = d.reserved + excluded.reserved, fees_due = d.fees_due + excluded.fees_due;
  return null;
end $$;
create trigger count_movements after insert on movements referencing new table as added
  for each statement execute function count_movements();

-- The processor's payments to the merchant's bank.
create table payouts (
  id text primary key check (id ~ '^po_[0-9a-hjkmnp-tv-z]{26}$'),
  merchant_id text not null,
  environment smallint not null check (environment in (1, 2)),
  connector_account_id text not null,
  ref text collate "C" not null,
  -- Minor units; below zero: the processor collects.
  amount bigint not null check (amount <> 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  status text not null check (status in ('pending', 'in_transit', 'paid', 'failed', 'returned')),
  arrival_date date not null,
  statement_descriptor text not null default '',
  failure_message text not null default '',
  -- By the processor's clock.
  created_at timestamptz not null,
  posted_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- When it reached the bank and when it came back, and when each was recorded here.
  paid_at timestamptz,
  paid_posted_at timestamptz,
  returned_at timestamptz,
  returned_posted_at timestamptz,
  -- Once the processor has listed its movements.
  reconciled_at timestamptz,
  lines_amount bigint,
  -- The rest that no movement explains.
  unattributed_amount bigint,
  unique (connector_account_id, ref),
  constraint payouts_lines_sum check (num_nulls(reconciled_at, lines_amount, unattributed_amount) in (0, 3)
    and (reconciled_at is null or lines_amount + unattributed_amount = amount)),
  constraint payouts_paid check ((status in ('paid', 'returned')) = (paid_at is not null) and (paid_at is null) = (paid_posted_at is null)),
  constraint payouts_returned check ((status = 'returned') = (returned_at is not null) and (returned_at is null) = (returned_posted_at is null))
);
create index payouts_newest on payouts (merchant_id, environment, created_at desc, id desc);
create index payouts_unreconciled on payouts (connector_account_id) where reconciled_at is null;

-- How far each account's movements and payouts were read, by the processor's clock.
create table movement_cursors (
  connector_account_id text primary key,
  movements_until timestamptz,
  payouts_until timestamptz,
  due_at timestamptz not null default now(),
  read_at timestamptz,
  last_error text not null default '',
  -- The last comparison with the processor's balance, and what it had above the movements by currency.
  checked_at timestamptz,
  balance_gaps jsonb not null default '{}'
);
create index movement_cursors_due on movement_cursors (due_at);

-- Differences of money are listed with those of statements.
alter table statement_differences
  drop constraint statement_differences_object_check,
  add constraint statement_differences_object_check check (object in ('payment', 'refund', 'dispute', 'movement', 'payout', 'balance')),
  drop constraint statement_differences_kind_check,
  add constraint statement_differences_kind_check check (kind in ('unknown_to_us', 'unknown_to_processor', 'amount', 'status', 'currency',
    'clearing', 'unattributed', 'balance'));

-- The chart of accounts (rules/chart.ts): a debit of a debit account raises it.
create table ledger_accounts (
  code text primary key,
  type text not null check (type in ('asset', 'liability', 'revenue', 'expense')),
  normal_side text not null check (normal_side in ('debit', 'credit'))
);
insert into ledger_accounts values
  ('processor_balance', 'asset', 'debit'),
  ('processor_clearing', 'asset', 'debit'),
  ('processor_reserve', 'asset', 'debit'),
  ('payouts_in_transit', 'asset', 'debit'),
  ('bank', 'asset', 'debit'),
  ('outside_payments', 'liability', 'credit'),
  ('merchant_balance', 'liability', 'credit'),
  ('refunds_pending', 'liability', 'credit'),
  ('disputes_held', 'liability', 'credit'),
  ('suspense', 'liability', 'credit'),
  ('fees_revenue', 'revenue', 'credit'),
  ('processor_fees', 'expense', 'debit'),
  ('dispute_fees', 'expense', 'debit'),
  ('processor_adjustments', 'expense', 'debit'),
  ('fx_difference', 'expense', 'debit'),
  ('adjustments', 'expense', 'debit');

-- The other account of each movement's amount and fee; the first is processor_balance. A type without a row is in the journal already.
create table movement_postings (
  type text primary key,
  amount_account text not null references ledger_accounts,
  fee_account text not null references ledger_accounts
);
insert into movement_postings values
  ('capture', 'processor_clearing', 'processor_fees'),
  ('refund', 'processor_clearing', 'processor_fees'),
  ('refund_failure', 'processor_clearing', 'processor_fees'),
  ('dispute', 'processor_clearing', 'dispute_fees'),
  ('dispute_reversal', 'processor_clearing', 'dispute_fees'),
  ('processor_fee', 'processor_fees', 'processor_fees'),
  ('dispute_fee', 'dispute_fees', 'dispute_fees'),
  ('adjustment', 'processor_adjustments', 'processor_fees'),
  ('payout', 'payouts_in_transit', 'processor_fees'),
  ('payout_failure', 'payouts_in_transit', 'processor_fees'),
  ('reserve', 'processor_reserve', 'processor_fees'),
  ('release', 'processor_reserve', 'processor_fees');

-- Months that take no more entries, as those before them: a late fact counts in the month in which it was written.
create table month_closes (
  month date primary key check (extract(day from month) = 1),
  closed_at timestamptz not null default now(),
  -- The operator, and why the differences of that time were accepted; empty: there were none.
  closed_by text not null,
  accepted text not null default '',
  -- Of the finished close: number of entries and SHA-256 of the trial balance.
  entries bigint,
  hash text check (hash ~ '^[0-9a-f]{64}$'),
  check ((entries is null) = (hash is null))
);

-- Every entry of the books: the journal, what processors did, and payouts at the bank. `booked_at` is the time of its month.
create view ledger as
with entry as (
  select 'je_' || j.id as id, j.merchant_id, j.environment, ''::text as connector_account_id, j.payment_id, j.kind, j.cause, j.debit, j.credit,
    j.amount, j.currency, coalesce(j.captured_at, j.created_at) as occurred_at, j.created_at as posted_at
  from journal j
  union all
  select m.id || part.suffix, m.merchant_id, m.environment, m.connector_account_id, m.payment_id, m.type, m.id,
    case when part.amount > 0 then part.account else part.other end, case when part.amount > 0 then part.other else part.account end,
    abs(part.amount), part.currency, m.occurred_at, m.posted_at
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
    abs(po.amount), po.currency, at_bank.at, at_bank.posted_at
  from payouts po
  cross join lateral (values
    ('.paid', 'payout_paid', 'bank', 'payouts_in_transit', po.paid_at, po.paid_posted_at),
    ('.returned', 'payout_returned', 'payouts_in_transit', 'bank', po.returned_at, po.returned_posted_at))
    as at_bank (suffix, kind, debit, credit, at, posted_at)
  where at_bank.at is not null)
select entry.*, case when exists (
    select from month_closes c where c.month >= date_trunc('month', entry.occurred_at at time zone 'UTC')::date and c.closed_at <= entry.posted_at)
  then entry.posted_at else entry.occurred_at end as booked_at
from entry;
