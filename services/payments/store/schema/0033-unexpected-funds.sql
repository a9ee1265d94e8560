-- Unexpected funds: a row holds the whole difference between the processor and the books, and an operator's closing moves what is left of it
-- to the account `adjustments`. The release before goes on next to it: it reads open rows, and leaves `closed_amount` 0.
alter table suspense
  -- What closings moved to `adjustments`, minor units; below zero: a loss.
  add column closed_amount bigint not null default 0,
  drop constraint suspense_kind_check,
  add constraint suspense_kind_check
    check (kind in ('second_charge', 'other_amount', 'excess_capture', 'second_refund', 'lost_intent')),
  drop constraint suspense_state_check,
  add constraint suspense_state_check check (state in ('open', 'refunding', 'closed'));

-- A new row is checked at the processor after a minute; later writers say when.
alter table suspense alter column next_look_at set default now() + interval '1 minute';
drop trigger suspense_is_looked_at_again on suspense;
drop function schedule_suspense_look();

-- More than was asked, captured on the payment's own intent, was a part of another kind.
update suspense set kind = 'excess_capture' where kind = 'other_amount' and kept_amount > 0;
update suspense s set state = 'refunding' from operations o
where s.state = 'open' and o.kind = 'give_back' and o.reference = s.id and o.state <> 'done';
update suspense set next_look_at = now() where state <> 'closed' and kind <> 'second_refund';

-- What an operator's closing moves.
create or replace function journal_rules_hold(j journal) returns boolean language plpgsql immutable parallel safe as $$
declare
  accounts constant text[] := array['processor_clearing', 'merchant_balance', 'fees_revenue', 'refunds_pending', 'disputes_held', 'suspense', 'adjustments'];
  broken text := case
    when not (j.debit = any (accounts)) then 'journal_debit_check'
    when not (j.credit = any (accounts)) then 'journal_credit_check'
    when not (j.debit <> j.credit) then 'journal_check'
    when not (j.amount > 0) then 'journal_amount_check'
    when not (j.kind in ('adjusted', 'suspense_kept', 'suspense_written_off') or (j.debit <> 'adjustments' and j.credit <> 'adjustments'))
      then 'journal_adjustments_account'
    when not ((j.kind = 'adjusted') = (j.payment_id is null)) then 'journal_is_of_a_payment_or_an_adjustment'
  end;
begin
  if broken is null then return true; end if;
  raise exception 'new row for relation "journal" violates check constraint "%"', broken
    using errcode = 'check_violation', table = 'journal', constraint = broken;
end $$;
