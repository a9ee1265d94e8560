-- Mails to buyers go to addresses that nobody has proved: they are counted by merchant, environment and hour. Release 0.1.0 writes none of the
-- environment; its mails of that hour are not counted.
alter table mails add column environment text not null default '' check (environment in ('', 'sandbox', 'live'));
create index mails_to_buyers on mails (merchant_id, environment, kind, created_at) where environment <> '';
-- A payment's refunds within an hour are one mail.
create index mails_of_refunds on mails (object_id) where kind = 'refund_receipt';
-- Mails that a sign-in waits for have a queue of their own, which no number of others slows down.
create index mails_of_sign_ins on mails (next_attempt_at)
  where status = 'queued' and kind in ('sign_in_link', 'invitation', 'way_in_added', 'new_browser');
