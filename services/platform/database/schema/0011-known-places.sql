-- Places of the stream without a hole whose events stand in this outbox: the relay notes them with the mark, in one statement, so that a
-- database which lacks an event lacks the note too. Nobody has to read them back to compare (recovery.ts). None: 1 to 0.
alter table event_stream
  add column known_from bigint not null default 1,
  add column known_to bigint not null default 0;
