-- The audit log as chains, one for each merchant and one (with an empty merchant_id) for what concerns none: a link holds the hash of its
-- predecessor and of its entry (rules/audit-chain.ts). Beside the entries, so that those which the release before writes during an update
-- can be chained afterwards, although no entry ever changes. In order of writing, which is not that of time.
create table audit_links (
  merchant_id text collate "C" not null,
  seq bigint not null check (seq > 0),
  entry_id text collate "C" not null unique,
  -- Chained by the job, some time after it was written: the chain proves nothing of the time between.
  late boolean not null,
  hash bytea not null check (octet_length(hash) = 32),
  primary key (merchant_id, seq)
);
create trigger audit_is_append_only before update or delete or truncate on audit_links
  for each statement execute function audit_is_append_only();

-- Where each chain goes on. Whoever appends holds the rows of his chains, taken in the order of their names.
create table audit_heads (
  merchant_id text collate "C" primary key,
  seq bigint not null check (seq >= 0),
  hash bytea not null check (octet_length(hash) = 32)
);

-- Heads that were told to the world, as events and log lines.
create table audit_seals (
  merchant_id text collate "C" not null,
  seq bigint not null check (seq > 0),
  hash bytea not null check (octet_length(hash) = 32),
  sealed_at timestamptz not null default now(),
  primary key (merchant_id, seq)
);
create trigger audit_is_append_only before update or delete or truncate on audit_seals
  for each statement execute function audit_is_append_only();

-- The place of the daily pass, which replicas share: first over the entries, for those without a link, then over the chains.
create table audit_check (
  only_row boolean primary key default true check (only_row),
  due_at timestamptz not null default now(),
  began_at timestamptz not null default now(),
  -- The last entry that was looked at.
  entry_id text collate "C" not null default '',
  -- The chain that is followed; null: entries are looked at.
  merchant_id text collate "C",
  -- How far it was followed.
  seq bigint not null default 0,
  hash bytea not null default '\x0000000000000000000000000000000000000000000000000000000000000000',
  -- Chains of this pass that do not hold.
  broken integer not null default 0,
  -- The last pass in which all held: its end, and how long it took. At first: since when there are chains.
  held_at timestamptz not null default now(),
  held_seconds double precision not null default 0
);
insert into audit_check default values;
