-- What the key was used for; empty: by a release that did not say. One key on two operations is two keys (CONTRACT.md §6): the first
-- has its bare key, any other `<operation> <key>`.
alter table idempotency_keys add column operation text not null default '';
