-- Finds the events that nothing more will be done with, for the sweeper.
create index events_by_age on events (created_at) where next_attempt_at is null;
