-- A processor's page may end before its session does: then another intent takes the place of the first, and this counts how often that
-- happened. Each is an operation of its own, whose reference is the payment's id with its number.
alter table payments add column renewals integer not null default 0 check (renewals >= 0);
-- Its operations, beside those that there are.
alter table operations drop constraint operations_kind_check;
alter table operations add constraint operations_kind_check check (kind in (
  'create_intent', 'create_refund', 'give_back', 'capture', 'cancel', 'submit_evidence', 'accept_dispute', 'renew_intent'));
