-- Events that leave this service, written in the transaction of the change they announce and published by the relay.
-- Rows stay for 3 days after publication, so that a lost stream can be filled again.
create table outbox (
  seq bigint generated always as identity primary key,
  event_id text not null unique,
  subject text not null,
  body bytea not null,
  created_at timestamptz not null default now(),
  published_at timestamptz
);
create index outbox_unpublished on outbox (seq) where published_at is null;
create index outbox_published on outbox (published_at) where published_at is not null;
