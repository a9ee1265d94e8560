-- Internal teams as callers (access.v1.TeamService). A token is long and random, so its SHA-256 reveals nothing.
create table teams (
  name text collate "C" primary key check (name ~ '^[a-z][a-z0-9-]{0,31}$'),
  -- Numbers of access.v1.Right.
  rights smallint[] not null check (cardinality(rights) between 1 and 20),
  -- Empty: all merchants.
  merchant_ids text[] not null check (cardinality(merchant_ids) <= 100),
  rate integer not null check (rate between 1 and 10000),
  created_at timestamptz not null,
  expires_at timestamptz check (expires_at > created_at),
  digest bytea not null unique check (octet_length(digest) = 32),
  former_digest bytea unique check (octet_length(former_digest) = 32),
  former_until timestamptz,
  check ((former_digest is null) = (former_until is null))
);
