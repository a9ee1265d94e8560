-- Links to the merchant's terms and privacy notice, in both copies alike and in the same place: the sandbox's is begun by a trigger that
-- takes the whole row. The release before this one has neither, so it changes none.
alter table brandings
  add column terms_url text not null default '' check (terms_url = '' or (terms_url ~ '^https://' and length(terms_url) <= 2048)),
  add column privacy_url text not null default '' check (privacy_url = '' or (privacy_url ~ '^https://' and length(privacy_url) <= 2048));
alter table sandbox_brandings
  add column terms_url text not null default '' check (terms_url = '' or (terms_url ~ '^https://' and length(terms_url) <= 2048)),
  add column privacy_url text not null default '' check (privacy_url = '' or (privacy_url ~ '^https://' and length(privacy_url) <= 2048));
