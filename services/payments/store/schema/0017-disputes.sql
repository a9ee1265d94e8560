-- Disputes as merchants work with them: lists of their own, evidence with its files, and what is conceded.
alter table disputes
  add column merchant_id text,
  add column environment smallint,
  add column currency text,
  -- Conceding it: '' nobody has; `pending`: the processor has not told yet.
  add column acceptance text not null default '' check (acceptance in ('', 'pending', 'accepted'));
update disputes d set merchant_id = p.merchant_id, environment = p.environment, currency = p.currency
  from payments p where p.id = d.payment_id;
-- Whose it is is its payment's to say; the release before inserts disputes without it.
create function own_dispute() returns trigger language plpgsql as $$
begin
  select merchant_id, environment, currency into new.merchant_id, new.environment, new.currency
    from payments where id = new.payment_id;
  return new;
end $$;
create trigger disputes_are_owned before insert on disputes for each row execute function own_dispute();
alter table disputes add constraint disputes_owned
  check (merchant_id is not null and environment is not null and currency is not null);

-- Lists: a largest merchant has some hundred thousand, so they are counted from covering indexes.
create index disputes_newest on disputes (merchant_id, environment, opened_at desc, id desc) include (status, evidence_due_at);
create index disputes_by_status on disputes (merchant_id, environment, status, opened_at desc, id desc) include (evidence_due_at);
create index disputes_by_due on disputes (merchant_id, environment, evidence_due_at) include (status, opened_at, id);
alter table disputes set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.01,
  autovacuum_analyze_scale_factor = 0.02);

-- One row a submission: what the merchant sends, and what became of it at the processor.
create table dispute_evidence (
  id text primary key check (id ~ '^ev_[0-9a-hjkmnp-tv-z]{26}$'),
  dispute_id text not null references disputes,
  -- By their public names: texts, and ids of files.
  texts jsonb not null,
  files jsonb not null,
  state text not null default 'pending' check (state in ('pending', 'submitted', 'failed')),
  failure_code text not null default '',
  failure_message text not null default '',
  created_at timestamptz not null default now(),
  -- When the processor was known to have it.
  submitted_at timestamptz,
  check ((state = 'submitted') = (submitted_at is not null)),
  check ((state = 'failed') = (failure_code <> ''))
);
-- A dispute is answered once at a time, whatever runs at once.
create unique index dispute_evidence_under_way on dispute_evidence (dispute_id) where state = 'pending';
create index dispute_evidence_of_dispute on dispute_evidence (dispute_id, created_at desc, id desc);

create table dispute_files (
  id text primary key check (id ~ '^file_[0-9a-hjkmnp-tv-z]{26}$'),
  dispute_id text not null references disputes,
  type text not null check (type in ('application/pdf', 'image/jpeg', 'image/png')),
  -- Both null until all of its bytes are here and were looked at.
  size integer check (size between 1 and 5242880),
  sha256 bytea check (length(sha256) = 32),
  -- Its id at the processor, once it is there.
  connector_ref text not null default '',
  -- The submission that it was last part of.
  evidence_id text references dispute_evidence,
  created_at timestamptz not null default now(),
  check ((size is null) = (sha256 is null))
);
create index dispute_files_of_dispute on dispute_files (dispute_id);
create index dispute_files_by_age on dispute_files (created_at);

create table dispute_file_pieces (
  file_id text not null references dispute_files on delete cascade,
  number smallint not null check (number between 0 and 19),
  bytes bytea not null check (length(bytes) between 1 and 262144),
  primary key (file_id, number)
);
-- Documents and pictures are compressed already.
alter table dispute_file_pieces alter column bytes set storage external;

-- Its operations, beside those that there are.
do $$
declare
  kinds text;
begin
  select string_agg(kind[1], ', ') into kinds from pg_constraint,
    regexp_matches(pg_get_constraintdef(oid), '(''[a-z_]+'')::text', 'g') as kind
    where conrelid = 'operations'::regclass and conname = 'operations_kind_check';
  alter table operations drop constraint operations_kind_check;
  execute format('alter table operations add constraint operations_kind_check
    check (kind in (%s, ''submit_evidence'', ''accept_dispute''))', kinds);
end $$;
