-- Exact totals of long lists without counting their rows. Each change of a counted row appends deltas in its own transaction;
-- a job folds them into counts. At every snapshot, counts plus deltas are the number of rows, whoever wrote them. A delta is
-- an append, so that the writes of one busy merchant never wait for each other as they would on one counter.
create table list_counts (
  merchant_id text not null,
  environment smallint not null,
  -- The table whose rows are counted.
  list text not null,
  -- `day`: per UTC day and status. `week`: per UTC week from Monday, status and amount bucket; only of lists with amounts.
  grain text not null check (grain in ('day', 'week')),
  starts date not null,
  status text not null,
  bucket smallint not null check ((grain = 'day') = (bucket = -1)),
  -- Below zero for a moment when a row's end is folded before its beginning.
  n bigint not null,
  primary key (merchant_id, environment, list, grain, starts, status, bucket)
) with (fillfactor = 70);

create table list_deltas (
  merchant_id text not null,
  environment smallint not null,
  list text not null,
  -- created_at of the counted row.
  at timestamptz not null,
  status text not null,
  -- Null: the list has no filter by amount.
  amount bigint,
  n smallint not null check (n in (-1, 1))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- Arguments: list; `in`, `out` or `move`, what the change is for the list; `amount` when the list can be filtered by amount.
create function count_list_row() returns trigger language plpgsql as $$
begin
  if tg_argv[1] <> 'in' then
    insert into list_deltas values (old.merchant_id, old.environment, tg_argv[0], old.created_at, old.status,
      case when tg_argv[2] = 'amount' then old.amount end, -1);
  end if;
  if tg_argv[1] <> 'out' then
    insert into list_deltas values (new.merchant_id, new.environment, tg_argv[0], new.created_at, new.status,
      case when tg_argv[2] = 'amount' then new.amount end, 1);
  end if;
  return null;
end $$;

-- Rows that were there before the triggers: called by the migration that makes them.
create function count_list_rows_so_far(list text, counted text, amount text) returns void language plpgsql as $$
begin
  execute format('insert into list_deltas select merchant_id, environment, %L, created_at, status, %s, 1 from %I where %s',
    list, amount, list, counted);
end $$;
