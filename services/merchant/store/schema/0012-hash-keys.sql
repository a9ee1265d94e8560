-- Under which hash key the API key is hashed; empty: the one without a name, which is also what the release before this one writes.
alter table api_keys add column hash_key_id text not null default '';
