-- What merchants read of each attempt (docs/contract.md §5). Null: it ended before this release, or the processor does not tell.
alter table attempts
  add column started_at timestamptz,
  add column card_brand text,
  add column card_last4 text,
  add column three_ds_result text not null default '';
