-- Until when evidence against a dispute can be sent; null: not at all, or the processor does not tell.
alter table disputes add column evidence_due_at timestamptz;
