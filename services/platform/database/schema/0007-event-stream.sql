-- Where the stream has each published event, as it was acknowledged; null: not published, or published by a release that did not note it.
alter table outbox add column stream_seq bigint;

-- What this service knows of its stream, in one row: so that a stream which lost events is told from one that keeps what it should.
create table event_stream (
  is_only boolean primary key default true check (is_only),
  -- Which one it is: its name and when the broker made it. Empty: none was seen yet.
  stream text not null default '',
  made_at text not null default '',
  -- Its durable consumers, each with when the broker made it.
  consumers text[] not null default '{}',
  -- Counts the losses, of which the last was found at lost_at. A row is marked as published only if no loss was found since it was sent.
  epoch bigint not null default 0,
  lost_at timestamptz,
  -- The highest place that it is known to have given; what it gives next is higher.
  last_seq bigint not null default 0 check (last_seq >= 0),
  -- Up to this place all consumers have taken in what they follow.
  taken_seq bigint not null default 0 check (taken_seq >= 0),
  -- What was marked as published before this time is taken in by all, or was sent again.
  settled_before timestamptz not null default '-infinity',
  looked_at timestamptz not null default '-infinity'
) with (fillfactor = 50);
insert into event_stream default values;
