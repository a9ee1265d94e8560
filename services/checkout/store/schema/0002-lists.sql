-- The list of sessions at size: exact totals from counts (platform/0004), pages from the indexes that are there.
create trigger sessions_counted after insert on sessions for each row execute function count_list_row('sessions', 'in', '');
create trigger sessions_moved after update on sessions for each row when (
    (old.status, old.created_at, old.merchant_id, old.environment)
      is distinct from (new.status, new.created_at, new.merchant_id, new.environment))
  execute function count_list_row('sessions', 'move', '');
create trigger sessions_uncounted after delete on sessions for each row execute function count_list_row('sessions', 'out', '');
select count_list_rows_so_far('sessions', 'true', 'null');

alter table sessions set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.01);
