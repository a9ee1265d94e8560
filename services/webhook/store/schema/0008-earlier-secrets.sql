-- Signing secrets of an endpoint before its previous one: each signs until its own overlap is over, however often the secret was rolled since.
create table earlier_secrets (
  merchant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  secret bytea not null,
  signs_until timestamptz not null,
  foreign key (merchant_id, endpoint_id) references endpoints on delete cascade
);
create index earlier_secrets_of_endpoint on earlier_secrets (merchant_id, endpoint_id, signs_until);
