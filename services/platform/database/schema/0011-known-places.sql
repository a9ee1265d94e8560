-- Places of the stream without a hole whose events stand in this outbox: the relay notes them with the mark, in one statement, so that a
-- database which lacks an event lacks the note too. Nobody has to read them back to compare (recovery.ts). Of the epoch that they were noted
-- in alone: after a loss a place may be given again, whichever release finds it. None: 1 to 0.
alter table event_stream
  add column known_epoch bigint not null default 0,
  add column known_from bigint not null default 1,
  add column known_to bigint not null default 0;
