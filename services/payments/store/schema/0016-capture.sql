-- Capture later: what is authorized is captured by the merchant, whole or in part, or released.
alter table payments
  add column capture_method text not null default 'automatic' check (capture_method in ('automatic', 'manual')),
  -- Until when what is authorized can be captured, by the processor. Says nothing once it was: the release before leaves it.
  add column capture_before timestamptz;

-- A capture and a cancellation that a merchant asked for. One of each kind for a payment, and at most one of both under way.
alter table operations
  -- Of a capture: how much of what is authorized, minor units.
  add column amount bigint check (amount > 0);
alter table operations drop constraint operations_kind_check;
alter table operations add constraint operations_kind_check check (kind in (
  'create_intent', 'create_refund', 'give_back', 'capture', 'cancel'));
alter table operations add constraint operations_capture_has_amount check ((kind = 'capture') = (amount is not null));
create unique index operations_one_ending on operations (payment_id)
  where kind in ('capture', 'cancel') and state <> 'done';

-- A debit that came back after a refund may be followed by an authorization, which has captured nothing yet.
alter table payments drop constraint payments_refunded_within_captured;
alter table payments add constraint payments_refunded_within_captured check (refunded_amount >= 0
  and (refunded_amount <= captured_amount or outcome = 'failed' or (captured_amount = 0 and failed_attempts > 0)));
