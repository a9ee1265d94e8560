-- Everything the processor keeps. Each money rule of rules/ stands here a second time, as a constraint.

create table intents (
  id text primary key,
  account text not null,
  reference text not null,
  amount bigint not null check (amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  description text,
  return_url text,
  status text not null
    check (status in ('requires_payment_method', 'requires_action', 'processing', 'succeeded', 'canceled')),
  client_secret text not null,
  receipt_token text not null unique,
  captured_amount bigint not null check (captured_amount in (0, amount)),
  -- pending and succeeded refunds; kept true by refunds_are_counted below
  refunded_amount bigint not null check (refunded_amount between 0 and captured_amount),
  created_at timestamptz not null,
  paid_at timestamptz,
  canceled_at timestamptz,
  -- the processor is "down" for this intent until then (test card)
  outage_until timestamptz,
  version integer not null,
  check ((status = 'succeeded') = (captured_amount > 0)),
  check ((status = 'succeeded') = (paid_at is not null)),
  check ((status = 'canceled') = (canceled_at is not null))
);
create index intents_by_reference on intents (account, reference, created_at);
create index intents_paid on intents (account, paid_at, id) where paid_at is not null;

-- The card number and the CVC have no column.
create table attempts (
  id text primary key,
  intent_id text not null references intents (id),
  seq integer not null,
  status text not null check (status in ('succeeded', 'failed', 'processing', 'requires_action')),
  failure_code text,
  failure_message text,
  authorization_code text,
  created_at timestamptz not null,
  settled_at timestamptz,
  brand text not null,
  last4 text not null check (length(last4) = 4),
  funding text not null,
  fingerprint text not null,
  exp_month integer not null,
  exp_year integer not null,
  avs_line1 text not null,
  avs_zip text not null,
  cvc_check text not null,
  three_ds_result text,
  three_ds_version text,
  risk_level text not null,
  risk_score integer not null check (risk_score between 0 and 100),
  -- which test card it was, in words: decides what happens later
  behaviour text not null,
  challenge_token text,
  unique (intent_id, seq),
  check ((status = 'failed') = (failure_code is not null)),
  check ((status in ('succeeded', 'failed')) = (settled_at is not null))
);
-- An intent is paid once, and by one attempt at a time.
create unique index attempts_one_at_a_time on attempts (intent_id) where status <> 'failed';

create table refunds (
  id text primary key,
  account text not null,
  intent_id text not null references intents (id),
  amount bigint not null check (amount > 0),
  status text not null check (status in ('pending', 'succeeded', 'failed', 'canceled')),
  reason text,
  reference text,
  failure_code text,
  failure_message text,
  created_at timestamptz not null,
  moved_at timestamptz not null
);
create index refunds_by_intent on refunds (intent_id, created_at);
create index refunds_by_reference on refunds (account, reference) where reference is not null;
create index refunds_moved on refunds (account, moved_at, id);

create function refunds_are_counted() returns trigger language plpgsql as $$
declare
  counted bigint;
  actual bigint;
begin
  select refunded_amount into counted from intents where id = new.intent_id;
  select coalesce(sum(amount), 0) into actual
    from refunds where intent_id = new.intent_id and status in ('pending', 'succeeded');
  if counted is distinct from actual then
    raise exception 'intent % counts % as refunded, its refunds say %', new.intent_id, counted, actual
      using errcode = 'check_violation';
  end if;
  return null;
end $$;
create constraint trigger refunds_are_counted after insert or update on refunds
  for each row execute function refunds_are_counted();

create table disputes (
  id text primary key,
  account text not null,
  intent_id text not null references intents (id),
  amount bigint not null check (amount > 0),
  status text not null check (status in ('warning_needs_response', 'warning_under_review', 'warning_closed',
    'needs_response', 'under_review', 'won', 'lost')),
  reason text not null,
  opened_at timestamptz not null,
  evidence_due_at timestamptz not null,
  closed_at timestamptz,
  moved_at timestamptz not null,
  check ((status in ('warning_closed', 'won', 'lost')) = (closed_at is not null))
);
create index disputes_by_intent on disputes (intent_id, opened_at);
create index disputes_moved on disputes (account, moved_at, id);

-- Signed webhooks, written with the change they tell. next_attempt_at: null = nothing more to do, infinity = held.
create table events (
  id text primary key,
  seq bigint generated always as identity,
  account text not null,
  intent_id text not null references intents (id),
  type text not null,
  body text not null,
  created_at timestamptz not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz default now(),
  is_claimed boolean not null default false,
  delivered_at timestamptz,
  last_error text,
  -- a fault switch has put it off once already
  postponed boolean not null default false,
  newest_first boolean not null default false,
  check (delivered_at is null or attempts > 0)
);
create index events_due on events (next_attempt_at) where next_attempt_at is not null;
create index events_by_intent on events (intent_id, seq);

-- What will happen to an intent by itself: a dispute, a failing refund, a settlement.
create table delayed_facts (
  id text primary key,
  intent_id text not null references intents (id),
  kind text not null check (kind in ('open_dispute', 'fail_refund', 'settle_attempt')),
  object_id text not null,
  due_at timestamptz not null
);
create index delayed_facts_due on delayed_facts (due_at);

create table idempotency_keys (
  account text not null,
  key text not null,
  fingerprint text not null,
  status integer not null,
  body text not null,
  created_at timestamptz not null,
  primary key (account, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Every API POST that did work, for audits: one row where a caller must have caused one.
create table operations (
  id bigint generated always as identity primary key,
  account text not null,
  kind text not null,
  idempotency_key text,
  reference text,
  object_id text not null,
  intent_id text not null,
  created_at timestamptz not null
);
create index operations_by_reference on operations (reference);

create table faults (
  id text primary key,
  created_at timestamptz not null,
  switch jsonb not null,
  drawn integer not null default 0,
  fired integer not null default 0
);

-- One row: what this installation made up for itself at its first start.
create table installation (
  is_only boolean primary key default true check (is_only),
  fingerprint_key bytea not null
);
