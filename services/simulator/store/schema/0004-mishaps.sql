-- What happens to a payment that no caller asked for: its debit comes back, or the processor loses it.
alter table intents
  add column returned_at timestamptz,
  add column lost_at timestamptz;
-- A debit that comes back after a refund takes the capture away and leaves the refund.
alter table intents drop constraint intents_check1;
alter table intents add constraint intents_refunded_amount_check
  check (refunded_amount >= 0 and (refunded_amount <= captured_amount or (captured_amount = 0 and returned_at is not null)));
create index intents_returned on intents (account, returned_at, id) where paid_at is null and returned_at is not null;

-- The account's event list, in the order of creation.
create index events_of_account on events (account, created_at, seq);
