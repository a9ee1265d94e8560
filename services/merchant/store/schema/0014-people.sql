-- People who work in the consoles: who they are, what they may do where, how they prove it. A merchant_id is empty where the installation
-- (the operators' door) is meant; the column beside it refers to the merchant where there is one. Nobody of the release before this one
-- reads or writes any of it.
create table persons (
  id text collate "C" primary key check (id ~ '^usr_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  email text not null unique check (length(email) between 3 and 254 and email = lower(email)),
  -- They have read a mail there: by a link that nobody else was told, or by the identity provider's word. Null: nobody knows.
  email_proved_at timestamptz,
  name text not null check (length(name) between 1 and 100),
  language text not null check (language in ('', 'en', 'de')),
  created_at timestamptz not null
);

create table memberships (
  person_id text collate "C" not null references persons,
  merchant_id text collate "C" not null,
  role text not null check (role ~ '^[a-z]{1,32}$'),
  -- The most that one refund may be; null: no limit of the person's own.
  refund_amount bigint check (refund_amount between 0 and 99999999),
  refund_currency text check (refund_currency ~ '^[A-Z]{3}$'),
  joined_at timestamptz not null,
  merchant text generated always as (nullif(merchant_id, '')) stored references merchants,
  primary key (person_id, merchant_id),
  check ((refund_amount is null) = (refund_currency is null))
);
create index memberships_of_merchant on memberships (merchant_id, person_id);

-- An invitation that was accepted, taken back or replaced is gone.
create table invitations (
  id text collate "C" primary key check (id ~ '^inv_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text collate "C" not null,
  email text not null check (length(email) between 3 and 254 and email = lower(email)),
  role text not null check (role ~ '^[a-z]{1,32}$'),
  refund_amount bigint check (refund_amount between 0 and 99999999),
  refund_currency text check (refund_currency ~ '^[A-Z]{3}$'),
  -- Null: an operator by command, or the approval of an application.
  inviter_id text collate "C" references persons,
  token_hash bytea not null unique,
  token_hash_key_id text not null,
  -- The link went by mail and nowhere else, so that whoever has it reads the address.
  by_mail_only boolean not null,
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  merchant text generated always as (nullif(merchant_id, '')) stored references merchants,
  unique (merchant_id, email),
  check ((refund_amount is null) = (refund_currency is null))
);

create table passkeys (
  id text collate "C" primary key check (id ~ '^pk_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  person_id text collate "C" not null references persons,
  -- The name of the host that it is good for: consoles of one host share it.
  rp_id text not null check (length(rp_id) between 1 and 253),
  credential_id bytea not null unique check (octet_length(credential_id) between 1 and 1023),
  public_key bytea not null check (octet_length(public_key) between 1 and 4096),
  -- How often it says to have signed; it never goes back. 0: it does not count.
  counter bigint not null check (counter between 0 and 4294967295),
  transports text[] not null check (cardinality(transports) <= 10),
  name text not null check (length(name) <= 100),
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_of_person on passkeys (person_id, id);

-- An authenticator app (TOTP): ciphertext, since a code is made from the secret itself.
create table authenticators (
  person_id text collate "C" primary key references persons,
  secret bytea not null,
  -- Null: it has not shown a code yet, and opens nothing.
  confirmed_at timestamptz,
  -- The last step whose code was taken: no code works twice, and none before it works any more.
  last_step bigint not null default 0 check (last_step >= 0),
  -- Wrong codes, and since when they are counted.
  failures integer not null default 0 check (failures >= 0),
  failures_since timestamptz not null default now()
);

-- A session that ended is gone.
create table console_sessions (
  id text collate "C" primary key check (id ~ '^ses_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  person_id text collate "C" not null references persons,
  door text not null check (door in ('merchants', 'operators')),
  secret_hash bytea not null unique,
  secret_hash_key_id text not null,
  -- False: it can do nothing but add a way to sign in.
  is_full boolean not null,
  proved_at timestamptz,
  -- Wrong codes of the authenticator app.
  code_failures smallint not null default 0 check (code_failures between 0 and 6),
  created_at timestamptz not null,
  -- To the minute.
  last_used_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  address text not null check (length(address) <= 64),
  agent text not null check (length(agent) <= 300),
  check (is_full or proved_at is null)
);
create index console_sessions_of_person on console_sessions (person_id);
create index console_sessions_by_end on console_sessions (expires_at);

-- What a passkey has to sign, once.
create table passkey_challenges (
  id text collate "C" primary key check (length(id) between 16 and 64),
  challenge text not null check (length(challenge) between 22 and 128),
  purpose text not null check (purpose in ('sign_in', 'add', 'prove')),
  door text not null check (door in ('merchants', 'operators')),
  -- Whose; null: of nobody yet, to sign in.
  session_id text collate "C" references console_sessions on delete cascade,
  expires_at timestamptz not null,
  check ((session_id is null) = (purpose = 'sign_in'))
);
create index passkey_challenges_by_end on passkey_challenges (expires_at);
create index passkey_challenges_of_session on passkey_challenges (session_id) where session_id is not null;

-- Kinds of mail that a person does not want as their role has them by itself.
create table notification_choices (
  person_id text collate "C" not null,
  merchant_id text collate "C" not null,
  kind text not null check (kind ~ '^[a-z_]{1,64}$'),
  is_on boolean not null,
  primary key (person_id, merchant_id, kind),
  foreign key (person_id, merchant_id) references memberships on delete cascade
);

create table saved_views (
  person_id text collate "C" not null,
  merchant_id text collate "C" not null,
  list text not null check (list ~ '^[a-z]{1,32}$'),
  name text not null check (length(name) between 1 and 60),
  query text not null check (length(query) <= 2000),
  primary key (person_id, merchant_id, list, name),
  foreign key (person_id, merchant_id) references memberships on delete cascade
);
