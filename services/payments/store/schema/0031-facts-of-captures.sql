-- When the processor captured, by its own word: it decides the fee. Null: not a capture, or the processor does not say when.
alter table journal add column captured_at timestamptz;

-- The status of what is only authorized is `succeeded`, also where a debit that came back had been refunded before, and what has more refunds
-- than captures since then is `refunded`. A generated column's expression cannot be changed on every server that is supported; a trigger
-- derives the same column, also for the release before, which never writes it.
create function payment_status(outcome text, dispute_hold text, captured_amount bigint, refunded_amount bigint) returns text
  language sql immutable parallel safe
  return case
    when outcome <> 'succeeded' then outcome
    when dispute_hold <> 'none' then 'disputed'
    when refunded_amount = 0 or captured_amount = 0 then 'succeeded'
    when refunded_amount < captured_amount then 'partially_refunded'
    else 'refunded'
  end;
alter table payments alter column status drop expression;
create function derive_payment_status() returns trigger language plpgsql as $$
begin
  new.status := payment_status(new.outcome, new.dispute_hold, new.captured_amount, new.refunded_amount);
  return new;
end $$;
create trigger payments_derive_status
  before insert or update of status, outcome, dispute_hold, captured_amount, refunded_amount on payments
  for each row execute function derive_payment_status();
-- An authorization is on the list of payments to ask about, which is short and has an index.
update payments set status = status
  where next_check_at is not null and outcome = 'succeeded' and captured_amount = 0 and refunded_amount > 0;

-- A debit that came back after a refund may be followed by a capture of less than was refunded. The other rules are those of 0027.
create or replace function payment_rules_hold(p payments) returns boolean language plpgsql immutable parallel safe as $$
declare
  broken text := case
    when not (p.id ~ '^pay_[0-9a-hjkmnp-tv-z]{26}$') then 'payments_id_check'
    when not (p.environment in (1, 2)) then 'payments_environment_check'
    when not (p.amount between 1 and 99999999) then 'payments_amount_check'
    when not (p.currency ~ '^[A-Z]{3}$') then 'payments_currency_check'
    when not (length(p.order_reference) <= 100) then 'payments_order_reference_check'
    when not (p.email_turn >= 0) then 'payments_email_turn_check'
    when not (p.capture_method in ('automatic', 'manual')) then 'payments_capture_method_check'
    when not (p.outcome in ('pending', 'requires_action', 'processing', 'succeeded', 'failed', 'canceled')) then 'payments_outcome_check'
    when not (p.captured_amount between 0 and p.amount) then 'payments_check'
    when not (p.outcome <> 'succeeded' or p.authorized_at is not null) then 'payments_check2'
    when not (p.outcome = 'succeeded' or (p.captured_amount = 0 and p.dispute_hold = 'none')) then 'payments_check3'
    when not ((p.captured_amount > 0) = (p.captured_at is not null)) then 'payments_check4'
    when not (p.outcome in ('pending', 'canceled') or p.visible) then 'payments_check5'
    when not (p.dispute_hold in ('none', 'open', 'lost')) then 'payments_dispute_hold_check'
    when not (p.disputed_amount >= 0) then 'payments_disputed_amount_check'
    when not (p.fee_amount >= 0) then 'payments_fee_amount_check'
    when not (p.renewals >= 0) then 'payments_renewals_check'
    when not (p.refunded_amount >= 0 and (
      p.refunded_amount <= p.captured_amount or p.outcome = 'failed' or p.failed_attempts > 0
    )) then 'payments_refunded_within_captured'
  end;
begin
  if broken is null then return true; end if;
  raise exception 'new row for relation "payments" violates check constraint "%"', broken
    using errcode = 'check_violation', table = 'payments', constraint = broken;
end $$;
