-- Who gets the mail, if it is a person's by their role: what is not sent yet goes with the role. Empty: nobody's, as an invitation.
alter table mails add column person_id text collate "C" not null default '';
create index mails_of_person on mails (person_id, merchant_id) where status = 'queued' and person_id <> '';

-- When people were told that the key ends soon, or need not be told; null: not yet.
alter table api_keys add column expiry_told_at timestamptz;
create index api_keys_to_tell on api_keys (expires_at) where revoked_at is null and expiry_told_at is null;

-- Who people are at the identity provider, bound at their first sign-in by it: an address can be given to somebody else there.
create table provider_links (
  issuer text not null check (length(issuer) <= 2048),
  subject text not null check (length(subject) between 1 and 255),
  person_id text collate "C" not null references persons,
  created_at timestamptz not null,
  primary key (issuer, subject),
  unique (person_id, issuer)
);

-- Tokens of the provider that were used, as hashes, for as long as they could be used again.
create table provider_tokens (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  used_at timestamptz not null
);
create index provider_tokens_by_time on provider_tokens (used_at);
