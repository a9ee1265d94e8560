-- A debit that comes back after a refund may be followed by a capture of less than was refunded.
alter table intents drop constraint intents_refunded_amount_check;
alter table intents add constraint intents_refunded_amount_check
  check (refunded_amount >= 0 and (refunded_amount <= captured_amount or returned_at is not null));
