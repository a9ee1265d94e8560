-- Journal rows that an operator proposed and another one approved. They belong to a merchant and to no payment: what payments must be follows
-- from their facts alone, and stays so. The release before goes on beside it: it reads rows by their payment, and sums of a merchant have these.
create table journal_adjustments (
  -- `adj_…`.
  id text primary key,
  merchant_id text not null,
  environment smallint not null check (environment in (1, 2)),
  -- Which payment it is about, for people; it is not one of that payment's own rows.
  about_payment_id text references payments,
  reason text not null check (length(reason) between 10 and 2000),
  state text not null default 'proposed' check (state in ('proposed', 'approved', 'rejected')),
  -- People: a token that stands for nobody in particular cannot be two of them.
  proposed_by text not null check (proposed_by ~ '^usr_[0-9a-hjkmnp-tv-z]{26}$'),
  proposed_at timestamptz not null default now(),
  decided_by text check (decided_by ~ '^usr_[0-9a-hjkmnp-tv-z]{26}$'),
  decided_at timestamptz,
  -- Why it was rejected, or what the other one looked at.
  note text not null default '' check (length(note) <= 2000),
  -- Made with the page: a form that is sent twice proposes once.
  idempotency_key text not null check (length(idempotency_key) between 1 and 100),
  unique (proposed_by, idempotency_key),
  check ((state = 'proposed') = (decided_by is null)),
  check ((state = 'proposed') = (decided_at is null)),
  -- Four eyes. Whoever proposed may take it back, which is a rejection.
  constraint adjustment_has_four_eyes check (state <> 'approved' or decided_by <> proposed_by)
);
create index journal_adjustments_by_state on journal_adjustments (state, id);
create index journal_adjustments_of_merchant on journal_adjustments (merchant_id, environment, id);

-- Each moves an amount between two accounts, so that every currency balances by its very shape.
create table journal_adjustment_lines (
  adjustment_id text not null references journal_adjustments,
  position integer not null check (position between 0 and 19),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  debit text not null,
  credit text not null,
  -- Minor units.
  amount bigint not null check (amount between 1 and 99999999999),
  primary key (adjustment_id, position),
  check (debit <> credit),
  check (debit in ('processor_clearing', 'merchant_balance', 'fees_revenue', 'refunds_pending', 'disputes_held', 'suspense', 'adjustments')),
  check (credit in ('processor_clearing', 'merchant_balance', 'fees_revenue', 'refunds_pending', 'disputes_held', 'suspense', 'adjustments'))
);

alter table journal alter column payment_id drop not null;
alter table journal drop constraint journal_debit_check;
alter table journal drop constraint journal_credit_check;
alter table journal
  add constraint journal_debit_check check (debit in
    ('processor_clearing', 'merchant_balance', 'fees_revenue', 'refunds_pending', 'disputes_held', 'suspense', 'adjustments')),
  add constraint journal_credit_check check (credit in
    ('processor_clearing', 'merchant_balance', 'fees_revenue', 'refunds_pending', 'disputes_held', 'suspense', 'adjustments')),
  add constraint journal_is_of_a_payment_or_an_adjustment check ((kind = 'adjusted') = (payment_id is null)),
  -- What nobody but an adjustment moves.
  add constraint journal_adjustments_account check (kind = 'adjusted' or 'adjustments' not in (debit, credit));
-- Each line is posted once.
create unique index journal_of_adjustment on journal (cause, occurrence) where kind = 'adjusted';
-- The newest of a merchant first.
create index journal_by_merchant on journal (merchant_id, environment, id);

-- A row is what an approved adjustment says, word for word.
create function adjusted_row_is_approved() returns trigger language plpgsql as $$
begin
  if not exists (
    select from journal_adjustments a join journal_adjustment_lines l on l.adjustment_id = a.id
    where a.id = new.cause and a.state = 'approved' and a.merchant_id = new.merchant_id and a.environment = new.environment
      and l.position = new.occurrence and l.currency = new.currency and l.debit = new.debit and l.credit = new.credit
      and l.amount = new.amount)
  then raise exception 'no approved adjustment says this' using errcode = 'check_violation'; end if;
  return null;
end $$;
create constraint trigger adjusted_row_is_approved after insert on journal for each row when (new.kind = 'adjusted')
  execute function adjusted_row_is_approved();

-- An approved adjustment has all of its rows when its transaction commits, and one of any state has lines.
create function adjustment_is_whole() returns trigger language plpgsql as $$
declare
  lines bigint := (select count(*) from journal_adjustment_lines where adjustment_id = new.id);
  posted bigint := (select count(*) from journal where kind = 'adjusted' and cause = new.id);
begin
  if lines = 0 then raise exception 'an adjustment has lines' using errcode = 'check_violation'; end if;
  if (new.state = 'approved' and posted <> lines) or (new.state <> 'approved' and posted > 0)
  then raise exception 'an adjustment is posted when it is approved' using errcode = 'check_violation'; end if;
  return null;
end $$;
create constraint trigger adjustment_is_whole after insert or update on journal_adjustments deferrable initially deferred
  for each row execute function adjustment_is_whole();

-- Decided once; what was proposed stays as it was.
create function adjustment_is_decided_once() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or old.state <> 'proposed'
    or (new.id, new.merchant_id, new.environment, new.reason, new.proposed_by, new.proposed_at, new.idempotency_key)
      is distinct from (old.id, old.merchant_id, old.environment, old.reason, old.proposed_by, old.proposed_at, old.idempotency_key)
    or new.about_payment_id is distinct from old.about_payment_id
  then raise exception 'an adjustment is decided once, and is never changed' using errcode = 'check_violation'; end if;
  return new;
end $$;
create trigger adjustment_is_decided_once before update or delete on journal_adjustments
  for each row execute function adjustment_is_decided_once();
create function adjustment_line_stays() returns trigger language plpgsql as $$
begin
  raise exception 'an adjustment''s lines are never changed' using errcode = 'check_violation';
end $$;
create trigger adjustment_line_stays before update or delete on journal_adjustment_lines
  for each row execute function adjustment_line_stays();
create trigger adjustments_are_never_emptied before truncate on journal_adjustments
  for each statement execute function adjustment_line_stays();
create trigger adjustment_lines_are_never_emptied before truncate on journal_adjustment_lines
  for each statement execute function adjustment_line_stays();
