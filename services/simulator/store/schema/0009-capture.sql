-- Intents whose authorization is captured later, whole or in part, or lapses.
alter table intents
  add column capture_method text not null default 'automatic' check (capture_method in ('automatic', 'manual')),
  -- while it is authorized: until when it can be captured
  add column capture_before timestamptz,
  add column cancellation_reason text check (cancellation_reason in ('requested', 'expired'));
alter table intents drop constraint intents_status_check;
alter table intents add constraint intents_status_check check (status in
  ('requires_payment_method', 'requires_action', 'processing', 'requires_capture', 'succeeded', 'canceled', 'expired'));
alter table intents drop constraint intents_check;
alter table intents add constraint intents_captured_amount_check
  check (captured_amount in (0, amount) or (capture_method = 'manual' and captured_amount between 0 and amount));
alter table intents add constraint intents_authorized_check
  check ((status = 'requires_capture') = (capture_before is not null)
    and (status <> 'requires_capture' or capture_method = 'manual'));
alter table delayed_facts drop constraint delayed_facts_kind_check;
alter table delayed_facts add constraint delayed_facts_kind_check
  check (kind in ('open_dispute', 'fail_refund', 'settle_attempt', 'decide_dispute', 'lapse_authorization'));
