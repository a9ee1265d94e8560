-- Checkout sessions. The payment's id is the session's with another prefix, so it has no column (rules/session.ts).
create table sessions (
  id text primary key check (id ~ '^cs_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text not null,
  environment smallint not null check (environment in (1, 2)),
  status text not null default 'open' check (status in ('open', 'processing', 'completed', 'expired', 'canceled')),
  amount bigint not null check (amount between 1 and 99999999),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  description text not null check (length(description) <= 255),
  customer_email text not null check (length(customer_email) <= 254),
  metadata jsonb not null,
  connector text not null,
  surface text not null check (surface in ('embedded', 'hosted', 'redirect')),
  success_url text not null,
  cancel_url text not null,
  locale text not null,
  -- HMAC of the session secret under the service's hash key; the secret itself is nowhere.
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  -- What the buyer's browser needs to pay; ciphertext, dropped when the session has ended.
  render bytea,
  -- What the session last heard of its payment; empty: no attempt yet.
  payment_status text not null default '',
  receipt_url text not null default '',
  failed_attempts integer not null default 0 check (failed_attempts >= 0),
  -- Time of the newest payment event taken in: an older one that comes late changes nothing.
  heard_at timestamptz,
  -- The merchant asked for expiry: when the intent is canceled, the session is expired and not canceled.
  expiry_asked boolean not null default false,
  -- Counts changes; a writer that read an older version starts over.
  version integer not null default 0,
  -- When to ask what became of the intent: at expiry, then again and again with growing pauses; null: the session has ended.
  next_check_at timestamptz,
  checks integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  completed_at timestamptz,
  check ((status = 'completed') = (completed_at is not null)),
  check (status <> 'completed' or payment_status <> ''),
  check ((status in ('open', 'processing')) = (next_check_at is not null)),
  check ((status in ('open', 'processing')) = (render is not null))
);
create index sessions_newest on sessions (merchant_id, environment, created_at desc, id desc);
create index sessions_by_status on sessions (merchant_id, environment, status, created_at desc, id desc);
create index sessions_by_email on sessions (merchant_id, environment, lower(customer_email), created_at)
  where customer_email <> '';
create index sessions_to_check on sessions (next_check_at) where next_check_at is not null;
