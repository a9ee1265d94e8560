-- Payments with the outcome of their intent at the processor. `status` is derived, in SQL as in rules/payment.ts.
create table payments (
  id text primary key check (id ~ '^pay_[0-9a-hjkmnp-tv-z]{26}$'),
  merchant_id text not null,
  environment smallint not null check (environment in (1, 2)),
  session_id text unique,
  amount bigint not null check (amount between 1 and 99999999),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  description text not null default '',
  customer_email text not null default '',
  metadata jsonb not null default '{}',
  connector text not null,
  connector_account_id text not null,
  connector_ref text,
  surface text not null,
  -- What the browser needs to pay; ciphertext, it holds the processor's secret for this intent.
  render bytea,
  outcome text not null default 'pending'
    check (outcome in ('pending', 'requires_action', 'processing', 'succeeded', 'failed', 'canceled')),
  captured_amount bigint not null default 0 check (captured_amount between 0 and amount),
  refunded_amount bigint not null default 0 check (refunded_amount between 0 and captured_amount),
  fee_amount bigint not null default 0 check (fee_amount >= 0),
  dispute_hold text not null default 'none' check (dispute_hold in ('none', 'open', 'lost')),
  disputed_amount bigint not null default 0 check (disputed_amount >= 0),
  status text not null generated always as (
    case
      when outcome <> 'succeeded' then outcome
      when dispute_hold <> 'none' then 'disputed'
      when refunded_amount = 0 then 'succeeded'
      when refunded_amount = captured_amount then 'refunded'
      else 'partially_refunded'
    end) stored,
  last_attempt_ref text not null default '',
  last_attempt_at timestamptz,
  failed_attempts integer not null default 0,
  -- Attempts that reached their end. In this row and not only in `attempts`: whoever waited for the row's lock then sees it as
  -- it is, while a subquery in the locking statement would still see the time before the wait.
  finished_attempts text[] not null default '{}',
  announced_by_confirm boolean not null default false,
  announced_by_processor boolean not null default false,
  visible boolean not null default false,
  card_brand text, card_last4 text, card_funding text, card_fingerprint text, card_exp_month smallint, card_exp_year smallint,
  verification jsonb,
  authorization_code text not null default '',
  receipt_url text not null default '',
  authorized_at timestamptz,
  captured_at timestamptz,
  failed_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- When to ask the processor next; null: nothing left to ask.
  next_check_at timestamptz,
  checks integer not null default 0,
  unique (connector, connector_ref),
  check (outcome <> 'succeeded' or authorized_at is not null),
  check (outcome = 'succeeded' or (captured_amount = 0 and dispute_hold = 'none')),
  check ((captured_amount > 0) = (captured_at is not null)),
  check (outcome in ('pending', 'canceled') or visible)
);
create index payments_newest on payments (merchant_id, environment, created_at desc, id desc)
  include (status, amount) where visible;
create index payments_by_status on payments (merchant_id, environment, status, created_at desc, id desc)
  include (amount) where visible;
create index payments_by_last4 on payments (merchant_id, environment, card_last4, created_at desc) where visible;
create index payments_to_check on payments (next_check_at) where next_check_at is not null;

-- Ends of attempts, so that a repeated report is recognised and counted once.
create table attempts (
  payment_id text not null references payments,
  ref text not null,
  outcome text not null check (outcome in ('succeeded', 'failed')),
  failure_code text not null default '',
  failure_message text not null default '',
  ended_at timestamptz not null,
  primary key (payment_id, ref)
);

create table refunds (
  id text primary key check (id ~ '^re_[0-9a-hjkmnp-tv-z]{26}$'),
  payment_id text not null references payments,
  merchant_id text not null,
  environment smallint not null,
  currency text not null,
  amount bigint not null check (amount > 0),
  status text not null check (status in ('pending', 'succeeded', 'failed', 'canceled')),
  connector text not null,
  connector_ref text,
  reason text not null default '' check (length(reason) <= 255),
  failure_code text not null default '',
  failure_message text not null default '',
  -- The processor has acknowledged it, so that payment.refunded was announced.
  acknowledged boolean not null default false,
  created_at timestamptz not null default now(),
  unique (connector, connector_ref)
);
create index refunds_of_payment on refunds (payment_id, created_at, id);
create index refunds_newest on refunds (merchant_id, environment, created_at desc, id desc);

-- The refunded amount of a payment is the sum of its pending and succeeded refunds, at every commit.
create function refunds_match_payment() returns trigger language plpgsql as $$
declare
  said bigint;
  counted bigint;
begin
  select refunded_amount into said from payments where id = new.payment_id;
  select coalesce(sum(amount), 0) into counted from refunds
    where payment_id = new.payment_id and status in ('pending', 'succeeded');
  if said is distinct from counted then
    raise exception 'payment %: refunded_amount % differs from its refunds %', new.payment_id, said, counted
      using errcode = 'check_violation';
  end if;
  return null;
end $$;
create constraint trigger refunds_match_payment after insert or update on refunds
  deferrable initially deferred for each row execute function refunds_match_payment();

create table disputes (
  id text primary key check (id ~ '^dp_[0-9a-hjkmnp-tv-z]{26}$'),
  payment_id text not null references payments,
  connector text not null,
  connector_ref text not null,
  reason text not null,
  status text not null check (status in ('warning_needs_response', 'warning_under_review', 'warning_closed',
    'needs_response', 'under_review', 'won', 'lost')),
  amount bigint not null check (amount > 0),
  opened_at timestamptz not null,
  unique (connector, connector_ref)
);
create index disputes_of_payment on disputes (payment_id, opened_at desc);

-- Double entry: each row debits one account and credits another, so no entry can be unbalanced. Append-only.
create table journal (
  id bigint generated always as identity primary key,
  merchant_id text not null,
  environment smallint not null,
  currency text not null,
  payment_id text not null references payments,
  kind text not null,
  cause text not null,
  -- How often this kind happened to this cause before: a dispute can be lost, recovered and lost again.
  occurrence integer not null default 0,
  debit text not null,
  credit text not null,
  amount bigint not null check (amount > 0),
  created_at timestamptz not null default now(),
  unique (payment_id, kind, cause, occurrence),
  check (debit <> credit),
  check (debit in ('processor_clearing', 'merchant_balance', 'fees_revenue', 'refunds_pending', 'disputes_held')),
  check (credit in ('processor_clearing', 'merchant_balance', 'fees_revenue', 'refunds_pending', 'disputes_held'))
);
create index journal_of_merchant on journal (merchant_id, environment, currency);
create function journal_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'the journal is append-only; write a reversing entry' using errcode = 'check_violation';
end $$;
create trigger journal_is_append_only before update or delete on journal
  for each row execute function journal_is_append_only();

-- What the service takes per payment; the most specific schedule in effect wins. '*' stands for every one.
create table fee_schedules (
  merchant_id text not null,
  currency text not null,
  connector text not null,
  effective_from timestamptz not null,
  basis_points integer not null check (basis_points between 0 and 10000),
  fixed_amount bigint not null check (fixed_amount >= 0),
  primary key (merchant_id, currency, connector, effective_from)
);
insert into fee_schedules values ('*', '*', '*', '2000-01-01', 290, 30);

-- Calls to a processor that change something there: the row is durable before the call, so that a crash or a timeout leaves a
-- trace, and its key makes a repeat harmless.
create table operations (
  id text primary key check (id ~ '^op_'),
  kind text not null check (kind in ('create_intent', 'create_refund')),
  payment_id text not null references payments,
  refund_id text references refunds,
  -- Our id at the processor, by which it can be asked.
  reference text not null,
  -- Part of the processor's idempotency key; grows only after the processor proved that it has nothing.
  generation integer not null default 1,
  state text not null default 'started' check (state in ('started', 'done', 'parked')),
  -- The processor answered the current key with a fault that it may have stored and would repeat for ever.
  key_spent boolean not null default false,
  tries integer not null default 0,
  next_try_at timestamptz not null,
  last_error text not null default '',
  created_at timestamptz not null default now(),
  unique (kind, reference)
);
create index operations_due on operations (next_try_at) where state = 'started';
create index operations_of_payment on operations (payment_id);

-- Processor events taken in, so that a repeat changes nothing; `note` says why one moved nothing.
create table processor_events (
  connector text not null,
  event_id text not null,
  type text not null,
  payment_id text,
  note text not null default '',
  received_at timestamptz not null default now(),
  primary key (connector, event_id)
);
create index processor_events_received on processor_events (received_at);
