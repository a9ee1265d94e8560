-- Runs that put an endpoint's failed deliveries back into the queue: what is left to do is known after any crash, since the place
-- in the list moves in the transaction of the deliveries themselves.
create table retry_runs (
  merchant_id text collate "C" not null,
  id text collate "C" not null,
  environment smallint not null check (environment in (1, 2)),
  endpoint_id text collate "C" not null,
  -- the next delivery has an id above place and below until_id
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
create index retry_runs_running on retry_runs (created_at) where status = 'running';

-- A delivery whose endpoint answers nobody may be given up by age alone, before its own first attempt.
alter table deliveries drop constraint deliveries_attempts_check, add check (attempts >= 0);
