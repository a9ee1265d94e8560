-- Finance: lines of bank statements, finished closes that stay, and indexes for reading the ledger by time.

-- A line of a statement (camt.053), stored once.
create table bank_lines (
  id bigint generated always as identity primary key,
  -- Or the bank's own number of the account.
  iban text not null check (iban <> ''),
  statement_id text not null check (statement_id <> ''),
  -- From 1 in the statement.
  position integer not null check (position > 0),
  -- The bank's reference; empty: none.
  bank_ref text not null,
  -- Minor units; below zero: debited.
  amount bigint not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  booked_on date not null,
  value_on date not null,
  end_to_end_id text not null,
  remittance text not null,
  is_reversal boolean not null,
  -- The payout that arrived with it.
  payout_id text references payouts,
  imported_at timestamptz not null default now(),
  unique (iban, statement_id, position),
  constraint bank_lines_payout_once unique (payout_id),
  constraint bank_lines_reversal_pays_none check (not is_reversal or payout_id is null)
);
-- A bank repeats an entry in another statement under its reference.
create index bank_lines_by_ref on bank_lines (iban, bank_ref) where bank_ref <> '';
create index bank_lines_unmatched on bank_lines (amount, currency) where payout_id is null;

create function bank_line_stays() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or to_jsonb(new) - 'payout_id' is distinct from to_jsonb(old) - 'payout_id'
    or (old.payout_id is not null and new.payout_id is distinct from old.payout_id)
  then raise exception 'a bank line is a fact and is never changed' using errcode = 'check_violation'; end if;
  return new;
end $$;
create trigger bank_line_stays before update or delete on bank_lines for each row execute function bank_line_stays();

-- A close is finished once; nothing else about it ever changes.
create function month_close_stays() returns trigger language plpgsql as $$
begin
  if tg_op <> 'UPDATE' or old.hash is not null
    or to_jsonb(new) - array['entries', 'hash'] is distinct from to_jsonb(old) - array['entries', 'hash']
  then raise exception 'a closed month is never changed' using errcode = 'check_violation'; end if;
  return new;
end $$;
create trigger month_close_stays before update or delete on month_closes for each row execute function month_close_stays();
create trigger month_closes_are_never_emptied before truncate on month_closes
  for each statement execute function month_close_stays();

-- Rows are appended in the order of time, so these stay small and cost an insert next to nothing.
create index journal_by_time on journal using brin (created_at, (coalesce(captured_at, created_at)))
  with (pages_per_range = 32, autosummarize = on);
create index movements_by_time on movements using brin (posted_at, occurred_at) with (pages_per_range = 32, autosummarize = on);
