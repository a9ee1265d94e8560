-- Methods other than cards. Of an intent: the methods that its page offers; null: cards. Of an attempt: `last4` is the
-- account's, if it is not a card.
alter table intents add column payment_methods jsonb;
alter table attempts
  add column method text not null default 'card' check (method in ('card', 'ideal', 'sepa_debit')),
  add column bank_country text;
alter table delayed_facts drop constraint delayed_facts_kind_check;
alter table delayed_facts add constraint delayed_facts_kind_check check (kind in
  ('open_dispute', 'fail_refund', 'settle_attempt', 'decide_dispute', 'lapse_authorization', 'return_debit'));
