-- Rules of tables as checks that \d shows, in place of functions that hold them. They hold already; the next file reads the rows without
-- keeping writers out.

alter table payments
  add constraint payments_id_check check (id ~ '^pay_[0-9a-hjkmnp-tv-z]{26}$') not valid,
  add constraint payments_environment_check check (environment in (1, 2)) not valid,
  add constraint payments_amount_check check (amount between 1 and 99999999) not valid,
  add constraint payments_currency_check check (currency ~ '^[A-Z]{3}$') not valid,
  add constraint payments_order_reference_check check (length(order_reference) <= 100) not valid,
  add constraint payments_email_turn_check check (email_turn >= 0) not valid,
  add constraint payments_capture_method_check check (capture_method in ('automatic', 'manual')) not valid,
  add constraint payments_outcome_check check (outcome in ('pending', 'requires_action', 'processing', 'succeeded', 'failed', 'canceled')) not valid,
  add constraint payments_captured_within_amount check (captured_amount between 0 and amount) not valid,
  add constraint payments_succeeded_is_authorized check (outcome <> 'succeeded' or authorized_at is not null) not valid,
  add constraint payments_only_succeeded_holds_money check (outcome = 'succeeded' or (captured_amount = 0 and dispute_hold = 'none')) not valid,
  add constraint payments_captured_has_time check ((captured_amount > 0) = (captured_at is not null)) not valid,
  add constraint payments_begun_is_visible check (outcome in ('pending', 'canceled') or visible) not valid,
  add constraint payments_dispute_hold_check check (dispute_hold in ('none', 'open', 'lost')) not valid,
  add constraint payments_disputed_amount_check check (disputed_amount >= 0) not valid,
  add constraint payments_fee_amount_check check (fee_amount >= 0) not valid,
  add constraint payments_renewals_check check (renewals >= 0) not valid,
  add constraint payments_refunded_within_captured
    check (refunded_amount >= 0 and (refunded_amount <= captured_amount or outcome = 'failed' or failed_attempts > 0)) not valid,
  drop constraint payments_rules_hold;

alter table operations
  add constraint operations_id_check check (id ~ '^op_') not valid,
  add constraint operations_kind_check
    check (kind in ('create_intent', 'create_refund', 'give_back', 'capture', 'cancel', 'submit_evidence', 'accept_dispute', 'renew_intent')) not valid,
  add constraint operations_state_check check (state in ('started', 'done', 'parked')) not valid,
  add constraint operations_amount_check check (amount > 0) not valid,
  add constraint operations_capture_has_amount check ((kind = 'capture') = (amount is not null)) not valid,
  drop constraint operations_rules_hold;

alter table journal
  add constraint journal_debit_check
    check (debit in ('processor_clearing', 'merchant_balance', 'fees_revenue', 'refunds_pending', 'disputes_held', 'suspense', 'adjustments')) not valid,
  add constraint journal_credit_check
    check (credit in ('processor_clearing', 'merchant_balance', 'fees_revenue', 'refunds_pending', 'disputes_held', 'suspense', 'adjustments')) not valid,
  add constraint journal_two_accounts check (debit <> credit) not valid,
  add constraint journal_amount_check check (amount > 0) not valid,
  add constraint journal_adjustments_account
    check (kind in ('adjusted', 'suspense_kept', 'suspense_written_off') or (debit <> 'adjustments' and credit <> 'adjustments')) not valid,
  add constraint journal_is_of_a_payment_or_an_adjustment check ((kind = 'adjusted') = (payment_id is null)) not valid,
  drop constraint journal_rules_hold;

drop function payment_rules_hold;
drop function operation_rules_hold;
drop function journal_rules_hold;
