-- A delivery is in exactly one of two tables: delivery_queue while it is pending (small and hot), deliveries once it was
-- delivered or given up (large, cold, written once). A manual retry moves it back. Its id is `whd_` with the event's time and
-- a hash of event and endpoint, so that the key itself is the rule "one delivery per event and endpoint".
create table delivery_queue (
  merchant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  id text collate "C" not null check (id like 'whd\__%'),
  event_id text collate "C",
  event_type text not null,
  payment_id text collate "C",
  body bytea not null check (length(body) between 2 and 1024),
  -- what the next attempt is: the schedule's own, asked for by retry, or of a test event
  trigger text not null default 'auto' check (trigger in ('auto', 'manual', 'test')),
  -- attempts since the delivery was created, and since its schedule last began
  attempts integer not null default 0 check (attempts >= 0),
  tries integer not null default 0 check (tries >= 0),
  -- moves with each manual retry: the outcome of an older send does not end the retry
  generation integer not null default 0,
  due_at timestamptz not null default now(),
  lease_until timestamptz not null default '-infinity',
  leased_by text,
  status_code integer not null default 0,
  last_error text not null default '',
  created_at timestamptz not null default now(),
  scheduled_at timestamptz not null default now(),
  primary key (merchant_id, endpoint_id, id)
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);
-- A lane's work, oldest first. lease_until is in no index, so that a claim rewrites none (HOT).
create index delivery_queue_lane on delivery_queue (merchant_id, endpoint_id, due_at, id);
create index delivery_queue_payment on delivery_queue (merchant_id, payment_id);

create table deliveries (
  merchant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  id text collate "C" not null,
  event_id text collate "C",
  event_type text collate "C" not null,
  payment_id text collate "C",
  body bytea not null,
  attempts integer not null check (attempts > 0),
  generation integer not null,
  state text not null check (state in ('delivered', 'failed')),
  status_code integer not null,
  last_error text not null,
  created_at timestamptz not null,
  finished_at timestamptz not null default now(),
  check (state = 'delivered' or last_error <> ''),
  primary key (merchant_id, endpoint_id, id)
) partition by range (id);
create index deliveries_payment on deliveries (merchant_id, payment_id);
create index deliveries_type on deliveries (merchant_id, endpoint_id, event_type, id);
create index deliveries_failed on deliveries (merchant_id, endpoint_id, id) where state = 'failed';

-- One row per attempt.
create table attempts (
  merchant_id text collate "C" not null,
  delivery_id text collate "C" not null,
  started_at timestamptz not null,
  trigger text not null check (trigger in ('auto', 'manual', 'test')),
  status_code integer not null,
  error_code text not null,
  duration_ms integer not null,
  dns_ms integer not null,
  connect_ms integer not null,
  tls_ms integer not null,
  first_byte_ms integer not null,
  remote_ip text not null,
  reused boolean not null,
  response_snippet text not null check (length(response_snippet) <= 1024)
) partition by range (started_at);
create index attempts_delivery on attempts (merchant_id, delivery_id, started_at);

-- Events that arrived and make no sense; for people to look at.
create table parked_events (
  event_id text primary key,
  type text not null,
  problem text not null,
  body bytea not null,
  parked_at timestamptz not null default now()
);
