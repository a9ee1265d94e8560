-- What a merchant took and gave back, by UTC day and currency, so that a look at the last weeks does not read their payments. Kept as the
-- counts of lists are (platform/0004): each change appends what it changes, in its own transaction, and a job folds that into days; at every
-- snapshot both together are what the rows say. The release before appends by the same triggers and folds nothing, which only costs time.
create table money_days (
  merchant_id text not null,
  environment smallint not null,
  -- `captured`: payments by captured_at. `refunded`: pending and succeeded refunds by created_at.
  kind text not null check (kind in ('captured', 'refunded')),
  day date not null,
  currency text not null,
  -- Below zero for a moment when a row's end is folded before its beginning.
  n bigint not null,
  -- Minor units.
  amount bigint not null,
  primary key (merchant_id, environment, kind, day, currency)
) with (fillfactor = 70);

create table money_deltas (
  merchant_id text not null,
  environment smallint not null,
  kind text not null check (kind in ('captured', 'refunded')),
  at timestamptz not null,
  currency text not null,
  n smallint not null check (n in (-1, 0, 1)),
  amount bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

create function add_captured_money() returns trigger language plpgsql as $$
begin
  insert into money_deltas
    select p.merchant_id, p.environment, 'captured', p.captured_at, p.currency, p.n, p.n * p.captured_amount
    from (values (old.visible, old.merchant_id, old.environment, old.currency, old.captured_at, old.captured_amount, -1),
                 (new.visible, new.merchant_id, new.environment, new.currency, new.captured_at, new.captured_amount, 1))
      as p (visible, merchant_id, environment, currency, captured_at, captured_amount, n)
    where p.visible and p.captured_at is not null;
  return null;
end $$;
create trigger payments_money_added after insert on payments for each row when (new.visible and new.captured_at is not null)
  execute function add_captured_money();
create trigger payments_money_moved after update on payments for each row when (
    (old.visible, old.captured_at, old.captured_amount, old.currency, old.merchant_id, old.environment)
      is distinct from (new.visible, new.captured_at, new.captured_amount, new.currency, new.merchant_id, new.environment))
  execute function add_captured_money();
create trigger payments_money_removed after delete on payments for each row when (old.visible and old.captured_at is not null)
  execute function add_captured_money();

create function add_refunded_money() returns trigger language plpgsql as $$
begin
  insert into money_deltas
    select r.merchant_id, r.environment, 'refunded', r.created_at, r.currency, r.n, r.n * r.amount
    from (values (old.status, old.merchant_id, old.environment, old.currency, old.created_at, old.amount, -1),
                 (new.status, new.merchant_id, new.environment, new.currency, new.created_at, new.amount, 1))
      as r (status, merchant_id, environment, currency, created_at, amount, n)
    where r.status in ('pending', 'succeeded');
  return null;
end $$;
create trigger refunds_money_added after insert on refunds for each row when (new.status in ('pending', 'succeeded'))
  execute function add_refunded_money();
create trigger refunds_money_moved after update on refunds for each row when (
    (old.status in ('pending', 'succeeded'), old.amount, old.created_at, old.currency, old.merchant_id, old.environment)
      is distinct from (new.status in ('pending', 'succeeded'), new.amount, new.created_at, new.currency, new.merchant_id, new.environment))
  execute function add_refunded_money();
create trigger refunds_money_removed after delete on refunds for each row when (old.status in ('pending', 'succeeded'))
  execute function add_refunded_money();

-- What is there already.
insert into money_days
  select merchant_id, environment, 'captured', (captured_at at time zone 'UTC')::date, currency, count(*), sum(captured_amount)
  from payments where visible and captured_at is not null group by 1, 2, 4, 5;
insert into money_days
  select merchant_id, environment, 'refunded', (created_at at time zone 'UTC')::date, currency, count(*), sum(amount)
  from refunds where status in ('pending', 'succeeded') group by 1, 2, 4, 5;
