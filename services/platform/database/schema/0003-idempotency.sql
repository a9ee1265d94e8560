-- One row per merchant, environment and Idempotency-Key (CONTRACT.md §6). `object_id` is reserved with the key, so that a
-- retry goes on with the same object and the same processor key. The answer is ciphertext: it can hold a session's secret.
create table idempotency_keys (
  merchant_id text not null,
  environment smallint not null,
  key text not null,
  fingerprint bytea not null,
  object_id text not null,
  locked_until timestamptz,
  lock_id text,
  answer bytea,
  created_at timestamptz not null default now(),
  primary key (merchant_id, environment, key)
);
create index idempotency_keys_created on idempotency_keys (created_at);
