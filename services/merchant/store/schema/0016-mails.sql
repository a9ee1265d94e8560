-- Mails that wait to be sent, queued in the transaction of their cause: ciphertext until they are sent or given up, then gone but for what
-- happened. `dropped`: nobody was to get it, and an asker must not see that.
create table mails (
  id text collate "C" primary key check (id ~ '^mail_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  kind text not null check (kind ~ '^[a-z_]{1,64}$'),
  -- Whose matter; empty: the installation's, or a person's own.
  merchant_id text collate "C" not null,
  -- What it is about, by which it can be taken back before it is sent.
  object_id text collate "C" not null,
  -- What happens twice is told once; null: it is told each time.
  once_key text unique check (length(once_key) <= 300),
  sealed bytea,
  status text not null check (status in ('queued', 'sent', 'given_up', 'dropped')),
  attempts integer not null default 0 check (attempts >= 0),
  next_attempt_at timestamptz not null,
  -- After that nobody needs it.
  give_up_at timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((sealed is null) = (status <> 'queued') and (ended_at is null) = (status = 'queued'))
);
create index mails_queued on mails (next_attempt_at) where status = 'queued';
create index mails_of_object on mails (object_id) where status = 'queued' and object_id <> '';
create index mails_ended on mails (ended_at) where status <> 'queued';

-- Links to sign in by: kept for as long as they are counted, used or not. Also for addresses that nobody has, so that an asker sees no
-- difference.
create table sign_in_links (
  id text collate "C" primary key check (id ~ '^sil_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  door text not null check (door in ('merchants', 'operators')),
  -- Null: nobody has the address.
  person_id text collate "C" references persons,
  -- The address, as its hash only: asking is limited for each.
  email_hash bytea not null,
  token_hash bytea not null unique,
  token_hash_key_id text not null,
  -- Of the secret that the asking browser keeps.
  browser_hash bytea not null,
  code_failures smallint not null default 0 check (code_failures between 0 and 6),
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  used_at timestamptz
);
create index sign_in_links_by_address on sign_in_links (email_hash, created_at);
create index sign_in_links_by_time on sign_in_links (created_at);

-- Browsers that a person signed in from, without their versions and as hashes: a sign-in from another one is told.
create table known_browsers (
  person_id text collate "C" not null references persons,
  agent_hash bytea not null check (octet_length(agent_hash) = 32),
  last_used_at timestamptz not null,
  primary key (person_id, agent_hash)
);
