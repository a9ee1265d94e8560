-- How new sessions choose between a merchant's accounts. Without a row merchants.failover_enabled is the setting for an outage.
create table routings (
  merchant_id text collate "C" not null references merchants,
  environment smallint not null check (environment in (1, 2)),
  -- In order: { currency, amountMin, amountMax, captureMethod, use, share }; empty text and 0 mean any.
  rules jsonb not null check (jsonb_typeof(rules) = 'array' and jsonb_array_length(rules) <= 20),
  on_outage text not null check (on_outage in ('next', 'stop')),
  -- After such a decline a session gets one intent at the next account.
  decline_codes text[] not null default '{}' check (cardinality(decline_codes) <= 20),
  version integer not null check (version > 0),
  primary key (merchant_id, environment)
);
