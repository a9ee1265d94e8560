-- PostgreSQL reads and plans the text of every check anew in each statement that writes the table, which was a third of such a statement; what a
-- function says it reads once for a connection. The rules and their names are the same, and so are the errors; a rule that comes to null
-- holds, as in a check.
create function payment_rules_hold(p payments) returns boolean language plpgsql immutable parallel safe as $$
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
      p.refunded_amount <= p.captured_amount or p.outcome = 'failed' or (p.captured_amount = 0 and p.failed_attempts > 0)
    )) then 'payments_refunded_within_captured'
  end;
begin
  if broken is null then return true; end if;
  raise exception 'new row for relation "payments" violates check constraint "%"', broken
    using errcode = 'check_violation', table = 'payments', constraint = broken;
end $$;

create function operation_rules_hold(o operations) returns boolean language plpgsql immutable parallel safe as $$
declare
  broken text := case
    when not (o.id ~ '^op_') then 'operations_id_check'
    when not (o.kind in (
      'create_intent', 'create_refund', 'give_back', 'capture', 'cancel', 'submit_evidence', 'accept_dispute', 'renew_intent'
    )) then 'operations_kind_check'
    when not (o.state in ('started', 'done', 'parked')) then 'operations_state_check'
    when not (o.amount > 0) then 'operations_amount_check'
    when not ((o.kind = 'capture') = (o.amount is not null)) then 'operations_capture_has_amount'
  end;
begin
  if broken is null then return true; end if;
  raise exception 'new row for relation "operations" violates check constraint "%"', broken
    using errcode = 'check_violation', table = 'operations', constraint = broken;
end $$;

create function journal_rules_hold(j journal) returns boolean language plpgsql immutable parallel safe as $$
declare
  accounts constant text[] := array['processor_clearing', 'merchant_balance', 'fees_revenue', 'refunds_pending', 'disputes_held', 'suspense', 'adjustments'];
  broken text := case
    when not (j.debit = any (accounts)) then 'journal_debit_check'
    when not (j.credit = any (accounts)) then 'journal_credit_check'
    when not (j.debit <> j.credit) then 'journal_check'
    when not (j.amount > 0) then 'journal_amount_check'
    when not (j.kind = 'adjusted' or (j.debit <> 'adjustments' and j.credit <> 'adjustments')) then 'journal_adjustments_account'
    when not ((j.kind = 'adjusted') = (j.payment_id is null)) then 'journal_is_of_a_payment_or_an_adjustment'
  end;
begin
  if broken is null then return true; end if;
  raise exception 'new row for relation "journal" violates check constraint "%"', broken
    using errcode = 'check_violation', table = 'journal', constraint = broken;
end $$;

-- What is there obeys the rules already; 0028 looks at it without keeping writers out.
alter table payments
  add constraint payments_rules_hold check (payment_rules_hold(payments)) not valid,
  drop constraint payments_id_check, drop constraint payments_environment_check, drop constraint payments_amount_check,
  drop constraint payments_currency_check, drop constraint payments_order_reference_check, drop constraint payments_email_turn_check,
  drop constraint payments_capture_method_check, drop constraint payments_outcome_check, drop constraint payments_check,
  drop constraint payments_check2, drop constraint payments_check3, drop constraint payments_check4, drop constraint payments_check5,
  drop constraint payments_dispute_hold_check, drop constraint payments_disputed_amount_check, drop constraint payments_fee_amount_check,
  drop constraint payments_renewals_check, drop constraint payments_refunded_within_captured;
alter table operations
  add constraint operations_rules_hold check (operation_rules_hold(operations)) not valid,
  drop constraint operations_id_check, drop constraint operations_kind_check, drop constraint operations_state_check,
  drop constraint operations_amount_check, drop constraint operations_capture_has_amount;
alter table journal
  add constraint journal_rules_hold check (journal_rules_hold(journal)) not valid,
  drop constraint journal_debit_check, drop constraint journal_credit_check, drop constraint journal_check, drop constraint journal_amount_check,
  drop constraint journal_adjustments_account, drop constraint journal_is_of_a_payment_or_an_adjustment;
