-- An intent's page can have an end: who has not begun to pay by then cannot any more. Null: it has none. A caller may make another intent
-- under the same reference then, and say the how-manieth it is.
alter table intents add column page_expires_at timestamptz, add column renewal integer check (renewal > 0);
alter table intents drop constraint intents_status_check;
alter table intents add constraint intents_status_check
  check (status in ('requires_payment_method', 'requires_action', 'processing', 'succeeded', 'canceled', 'expired'));
