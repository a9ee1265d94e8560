-- Lists of payments and refunds at size: exact totals from counts (platform/0004), pages and the other filters from covering
-- indexes. The largest merchants have millions of rows, so no filter may visit the rows themselves to count them.
create extension if not exists pg_trgm;

create trigger payments_counted after insert on payments for each row when (new.visible)
  execute function count_list_row('payments', 'in', 'amount');
create trigger payments_shown after update on payments for each row when (new.visible and not old.visible)
  execute function count_list_row('payments', 'in', 'amount');
create trigger payments_hidden after update on payments for each row when (old.visible and not new.visible)
  execute function count_list_row('payments', 'out', 'amount');
create trigger payments_moved after update on payments for each row when (old.visible and new.visible
    and (old.status, old.amount, old.created_at, old.merchant_id, old.environment)
      is distinct from (new.status, new.amount, new.created_at, new.merchant_id, new.environment))
  execute function count_list_row('payments', 'move', 'amount');
create trigger payments_uncounted after delete on payments for each row when (old.visible)
  execute function count_list_row('payments', 'out', 'amount');

create trigger refunds_counted after insert on refunds for each row execute function count_list_row('refunds', 'in', '');
create trigger refunds_moved after update on refunds for each row when (
    (old.status, old.created_at, old.merchant_id, old.environment)
      is distinct from (new.status, new.created_at, new.merchant_id, new.environment))
  execute function count_list_row('refunds', 'move', '');
create trigger refunds_uncounted after delete on refunds for each row execute function count_list_row('refunds', 'out', '');

select count_list_rows_so_far('payments', 'visible', 'amount'), count_list_rows_so_far('refunds', 'true', 'null');

create index payments_by_amount on payments (merchant_id, environment, amount, created_at desc, id desc)
  include (status) where visible;
drop index payments_by_last4;
create index payments_by_last4 on payments (merchant_id, environment, card_last4, created_at desc, id desc)
  include (status, amount) where visible;
-- A prefix of an id, under any collation.
create index payments_by_id on payments (merchant_id, environment, id text_pattern_ops) where visible;
-- New e-mails wait in a list of at most 1 MB that every search reads; 4 MB, the default, would cost it several times that.
create index payments_by_email on payments using gin (lower(customer_email) gin_trgm_ops)
  with (fastupdate = on, gin_pending_list_limit = 1024) where visible and customer_email <> '';

-- Index-only scans need the visibility map: a fifth of ten million changed rows, the default, is too long to wait for a vacuum.
alter table payments set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.01,
  autovacuum_analyze_scale_factor = 0.02);
alter table refunds set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.01);
