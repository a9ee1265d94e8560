-- Webhook endpoints (SPEC.md §2). At most 16 live ones per merchant and environment (CONTRACT.md §9) hold by construction:
-- each takes one of 16 slots. A deleted endpoint keeps its row while its deliveries are kept.
create table endpoints (
  merchant_id text collate "C" not null,
  id text collate "C" not null,
  environment smallint not null check (environment in (1, 2)),
  slot smallint not null check (slot between 0 and 15),
  url text not null check (url like 'https://%' and length(url) <= 2048),
  description text not null check (length(description) <= 255),
  event_types text[] not null check (cardinality(event_types) between 1 and 100),
  status text not null default 'active' check (status in ('active', 'disabled')),
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamptz,
  created_at timestamptz not null default now(),
  status_changed_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (merchant_id, id),
  check ((previous_secret is null) = (previous_until is null))
);
create unique index endpoints_slot on endpoints (merchant_id, environment, slot) where deleted_at is null;
create index endpoints_deleted on endpoints (deleted_at) where deleted_at is not null;
