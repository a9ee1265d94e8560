-- Reports that merchants order: CSV files, made in the background in encrypted pieces and kept for 30 days.

create table reports (
  id text primary key check (id ~ '^rpt_[0-9a-hjkmnp-tv-z]{26}$'),
  merchant_id text not null,
  environment smallint not null check (environment in (1, 2)),
  type text not null check (type in ('payments', 'refunds', 'disputes', 'balance_transactions', 'payout_reconciliation')),
  status text not null default 'queued' check (status in ('queued', 'running', 'ready', 'failed', 'expired')),
  -- Rows from the first moment on and before the second.
  range_from timestamptz not null,
  range_to timestamptz not null,
  timezone text not null,
  columns text[] not null,
  -- Key of the pieces, encrypted; null: the file is gone.
  data_key bytea,
  -- What is written: bytes, lines without the header, percent of the range, and the last row.
  size bigint not null default 0 check (size >= 0),
  rows bigint not null default 0 check (rows between 0 and 10000000),
  progress smallint not null default 0 check (progress between 0 and 100),
  last_at timestamptz not null,
  last_id text not null default '',
  failure text not null default '' check (failure in ('', 'too_many_rows', 'internal_error')),
  -- The process that writes it now, and how often one has begun without writing a piece.
  lease_id text not null default '',
  leased_until timestamptz not null default '-infinity',
  tries integer not null default 0,
  -- Unfinished reports take turns.
  turn_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  -- Counts the changes of the status.
  version bigint not null default 1,
  constraint reports_range check (range_from < range_to and range_to <= range_from + interval '367 days'),
  constraint reports_failure check ((status = 'failed') = (failure <> '')),
  constraint reports_key check ((status in ('failed', 'expired')) = (data_key is null)),
  constraint reports_expiry check ((status in ('ready', 'expired')) = (expires_at is not null)),
  constraint reports_whole check (status not in ('ready', 'expired') or (progress = 100 and size > 0))
);
create index reports_newest on reports (merchant_id, environment, created_at desc, id desc);
create index reports_unfinished on reports (turn_at) where status in ('queued', 'running');
create index reports_expiring on reports (expires_at) where status = 'ready';

create table report_pieces (
  report_id text not null references reports,
  -- Place in the file, bytes.
  begins_at bigint not null check (begins_at >= 0),
  length integer not null check (length between 1 and 1048576),
  -- Deflated, then encrypted with the report's key.
  bytes bytea not null,
  primary key (report_id, begins_at)
);
-- Ciphertext does not compress.
alter table report_pieces alter column bytes set storage external;
