-- Whether this database is the one that served last (recovery.ts). One row: up to where this service's own stream was compared with the
-- outbox, which server that was, and, while something is missing here that was announced, since when and why.
create table recovery (
  only_row boolean primary key default true check (only_row),
  -- Which stream; empty: none was compared yet.
  stream_created text not null default '',
  -- Every event of ours up to this number stood in the outbox, or stands in recovery_events.
  stream_seq bigint not null default 0 check (stream_seq >= 0),
  -- PostgreSQL's system identifier, its timeline and the database's oid; empty: not known.
  server text not null default '',
  since timestamptz,
  why text not null default '' check (why in ('', 'events_unknown', 'server_changed', 'operator')),
  check ((since is null) = (why = ''))
);
insert into recovery default values;

-- What the stream has of us and the outbox lacks, as it was announced.
create table recovery_events (
  event_id text primary key,
  stream_seq bigint not null,
  subject text not null,
  body bytea not null,
  found_at timestamptz not null default now(),
  -- Since then it stands in the outbox again.
  taken_back_at timestamptz
);
create index recovery_events_order on recovery_events (stream_seq);

-- Who began and ended a recovery, and why; an empty operator is the service itself.
create table recovery_acts (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  act text not null check (act in ('begun', 'events_taken_back', 'ended')),
  operator text not null,
  note text not null
);
