-- Runs that queue events for which an endpoint has no delivery. Not in retry_runs: the previous release would take them for retries.
create table replay_runs (
  merchant_id text collate "C" not null,
  id text collate "C" not null,
  environment smallint not null check (environment in (1, 2)),
  endpoint_id text collate "C" not null,
  event_types text[] not null check (cardinality(event_types) between 1 and 100),
  -- the next event has an id above place and below until_id
  place text collate "C" not null,
  until_id text collate "C" not null,
  total bigint not null check (total >= 0),
  queued bigint not null default 0 check (queued >= 0),
  status text not null default 'running' check (status in ('running', 'finished')),
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (merchant_id, id),
  check ((status = 'finished') = (finished_at is not null))
);
create index replay_runs_running on replay_runs (created_at) where status = 'running';
