-- What a processor that cannot be queried has reported: its answers to our commands and its verified webhooks, in the order in which they were
-- stored. Rows are never changed.
create table processor_notices (
  position bigint generated always as identity,
  connector text collate "C" not null,
  environment smallint not null,
  -- the processor's id of the account
  account text collate "C" not null,
  -- of the answer (by its idempotency key) or of the webhook (by its content): a repeat is stored once
  id text collate "C" not null,
  kind text collate "C" not null,
  -- the processor's id of the object
  ref text collate "C" not null,
  -- of the object that it changes: the payment of a capture or refund
  original_ref text collate "C" not null default '',
  -- our id in it
  reference text collate "C" not null default '',
  happened_at timestamptz not null,
  received_at timestamptz not null default now(),
  details jsonb not null,
  primary key (connector, environment, account, id)
);
create index processor_notices_ref on processor_notices (account, ref, position);
create index processor_notices_original on processor_notices (account, original_ref, position) where original_ref <> '';
create index processor_notices_reference on processor_notices (account, reference, position) where reference <> '';
