-- Every finding about money stays open until a later check agrees or an operator explains it. The release before writes the
-- same table: it opens an explained row again, which an operator then explains again.
alter table statement_differences
  add column explained_by text not null default '',
  add column note text not null default '',
  add constraint statement_differences_explained check ((explained_by = '') = (note = '')),
  drop constraint statement_differences_object_check,
  add constraint statement_differences_object_check check (object in ('payment', 'refund', 'dispute', 'movement', 'payout', 'balance',
    'adjustment', 'event', 'account')),
  drop constraint statement_differences_kind_check,
  add constraint statement_differences_kind_check check (kind in ('unknown_to_us', 'unknown_to_processor', 'amount', 'status', 'currency',
    'clearing', 'unattributed', 'balance', 'journal_difference', 'intent_mismatch', 'other_capture', 'processing_too_long',
    'event_stuck', 'event_list_too_long'));
