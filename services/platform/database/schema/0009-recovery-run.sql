-- How often an operator had the event published again. The broker drops what comes twice under one id for some minutes, so that the count is
-- part of the id: who follows is offered it again, and drops it by the event's own id.
alter table outbox add column sent_again int not null default 0;

-- Since when the service itself has done again what the event tells, where it can (a key that was revoked); null: it has not.
-- What was found before this release was done again by hand.
alter table recovery_events add column done_again_at timestamptz;
update recovery_events set done_again_at = now();
