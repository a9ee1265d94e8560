-- Money moves once. Counts a payment's versions, whichever release writes it, so that what others hear of it can be put in order without
-- any clock.
alter table payments add column version bigint not null default 1;
create function count_payment_version() returns trigger language plpgsql as $$
begin
  new.version := old.version + 1;
  return new;
end $$;
create trigger payments_count_version before update on payments for each row execute function count_payment_version();

-- Since when, by the processor's own clock, it answers that it has no such intent; null: it has one, or was not asked.
alter table payments add column not_found_since timestamptz;
-- A debit that comes back after a refund takes the capture away and leaves the refund.
alter table payments drop constraint payments_check1;
alter table payments add constraint payments_refunded_within_captured
  check (refunded_amount >= 0 and (refunded_amount <= captured_amount or outcome = 'failed'));

alter table operations
  -- A time of the processor's clock before the first try; null: it had not told any.
  add column sent_after timestamptz,
  -- Since when the current key is used: it is sent again for half of its life only.
  add column key_since timestamptz not null default now(),
  -- Since when, by the processor's own clock, a complete look has found nothing since the last send.
  add column not_found_since timestamptz,
  -- Where a look that is too long for one call goes on.
  add column search_after text not null default '',
  -- What a payment by token needs to be sent again; ciphertext, dropped when the operation ends.
  add column sealed_order bytea;
alter table operations drop constraint operations_kind_check;
alter table operations add constraint operations_kind_check check (kind in ('create_intent', 'create_refund', 'give_back'));

-- A refund at the processor under one of our references that nobody asked for a second time.
alter table refunds add column unasked boolean not null default false;

-- The debit that a dispute is about came back, so that the dispute holds nothing any more.
alter table disputes add column released boolean not null default false;

-- What happened at a processor in a payment's name that nobody asked for, or that contradicts the payment: kept here until a person or
-- the processor's own word ends it.
create table suspense (
  id text primary key check (id ~ '^su_[0-9a-hjkmnp-tv-z]{26}$'),
  kind text not null check (kind in ('second_charge', 'other_amount', 'second_refund', 'lost_intent')),
  payment_id text not null references payments,
  -- Of a second refund.
  refund_id text references refunds,
  merchant_id text not null,
  environment smallint not null,
  connector text not null,
  connector_account_id text not null,
  -- The object's id at the processor.
  connector_ref text not null,
  currency text not null,
  -- Minor units: what it moved, and how much of that went back.
  amount bigint not null check (amount >= 0),
  returned_amount bigint not null default 0 check (returned_amount between 0 and amount),
  -- The processor's id of the attempt that took the amount of an intent.
  paid_by text not null default '',
  state text not null default 'open' check (state in ('open', 'closed')),
  resolution text not null default '' check (resolution in ('', 'given_back', 'taken', 'closed', 'gone', 'found')),
  operator text not null default '' check (length(operator) <= 100),
  note text not null default '' check (length(note) <= 2000),
  found_at timestamptz not null default now(),
  closed_at timestamptz,
  unique (connector, connector_ref, kind),
  check ((state = 'closed') = (closed_at is not null)),
  check ((state = 'closed') = (resolution <> ''))
);
create index suspense_open on suspense (id) where state = 'open';
create index suspense_of_payment on suspense (payment_id);

alter table journal drop constraint journal_debit_check;
alter table journal drop constraint journal_credit_check;
alter table journal
  add constraint journal_debit_check check (debit in
    ('processor_clearing', 'merchant_balance', 'fees_revenue', 'refunds_pending', 'disputes_held', 'suspense')),
  add constraint journal_credit_check check (credit in
    ('processor_clearing', 'merchant_balance', 'fees_revenue', 'refunds_pending', 'disputes_held', 'suspense'));
create trigger journal_is_never_emptied before truncate on journal
  for each statement execute function journal_is_append_only();

-- How far each account's event list has been read, by the processor's clock.
create table event_cursors (
  connector_account_id text primary key,
  read_until timestamptz,
  due_at timestamptz not null default now(),
  read_at timestamptz,
  last_error text not null default ''
);
create index event_cursors_due on event_cursors (due_at);
