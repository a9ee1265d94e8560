-- Under which hash key the secret is hashed; empty: the one without a name, which is also what the release before this one writes.
alter table sessions add column secret_hash_key_id text not null default '';
