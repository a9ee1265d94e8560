-- The match of the processors' statements with our books: how far each account has come, and what did not agree.
create index payments_captured on payments (connector_account_id, captured_at) where captured_at is not null;

create table statement_matches (
  connector_account_id text primary key,
  -- Everything before it was compared.
  matched_until timestamptz not null,
  due_at timestamptz not null default now(),
  last_error text not null default ''
);
create index statement_matches_due on statement_matches (due_at);

create table statement_differences (
  id bigint generated always as identity primary key,
  connector_account_id text not null,
  object text not null check (object in ('payment', 'refund', 'dispute')),
  -- The object's id at the processor.
  ref text not null,
  kind text not null check (kind in ('unknown_to_us', 'unknown_to_processor', 'amount', 'status', 'currency')),
  payment_id text references payments,
  ours text not null default '',
  theirs text not null default '',
  found_at timestamptz not null default now(),
  last_found_at timestamptz not null default now(),
  -- A later match found that both agree.
  resolved_at timestamptz,
  unique (connector_account_id, object, ref, kind)
);
create index statement_differences_open on statement_differences (id) where resolved_at is null;
