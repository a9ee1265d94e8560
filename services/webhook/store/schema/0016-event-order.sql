-- Positions follow the streams, so versions of one payment keep their order although replicas consume at the same time and
-- a crashed one's events arrive late. A job gives them (jobs/position-events.ts) instead of a trigger, which took them in
-- the order of inserts. Rows from before arrived_at never get one.
drop trigger events_lock on events;
drop trigger events_position on events;
drop function position_events();
alter table events
  -- `<source>/<name>` of the durable consumer, and the event's place in its stream; null in rows of the previous release
  add column consumer text collate "C",
  add column stream_seq bigint,
  add column arrived_at timestamptz;
alter table events alter column arrived_at set default now();
create index events_unpositioned on events (consumer, stream_seq) where position is null and arrived_at is not null;

-- The last position. Its row is locked until positions are visible: one transaction at a time gives them.
create table event_feed (
  only_row boolean primary key default true check (only_row),
  position bigint not null check (position >= 0)
);
insert into event_feed (position) select coalesce(max(position), 0) from events;
-- The sequence event_positions has no user any more.
