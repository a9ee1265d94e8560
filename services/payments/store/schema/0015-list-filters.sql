-- What payments are found again by (docs/contract.md §5): the merchant's order number, currency, connector, time of capture.
set local maintenance_work_mem = '256MB';

-- What is found by one thing is narrowed by the others without a look at the rows, which lie anywhere.
-- Found by the whole of it, or by its beginning under any collation; payments without one are in no index.
alter table payments add column order_reference text not null default '' check (length(order_reference) <= 100);
create index payments_by_reference on payments (merchant_id, environment, order_reference text_pattern_ops, created_at desc, id desc)
  include (status, amount, currency, connector, captured_at) where visible and order_reference <> '';

-- Rows of one currency and connector; what is rare is gathered from here, what is common is met soon in the list itself.
create index payments_by_kind on payments (merchant_id, environment, currency, connector, created_at desc, id desc)
  include (status, amount) where visible;
create index payments_by_capture on payments (merchant_id, environment, captured_at desc, id desc)
  include (status, amount, currency, connector, created_at) where visible and captured_at is not null;
-- Nobody captures before there is a payment, but clocks differ: a list by capture is walked by creation from a day behind its end on,
-- and finds here what that leaves out. Empty but for a processor whose clock is a day off.
create index payments_captured_early on payments (merchant_id, environment, created_at desc, id desc)
  where visible and created_at - captured_at > interval '24 hours';
drop index payments_by_amount;
create index payments_by_amount on payments (merchant_id, environment, amount, created_at desc, id desc)
  include (status, currency, connector, captured_at) where visible;
drop index payments_by_last4;
create index payments_by_last4 on payments (merchant_id, environment, card_last4, created_at desc, id desc)
  include (status, amount, currency, connector, captured_at) where visible;

-- A payment is counted in the list of all (`payments`), among those of its currency and connector (`payments/EUR/stripe`), and, once it
-- is captured, among those by the time of capture (`captured/EUR/stripe`). A fold of the release before treats them as lists like any other.
create function count_payment() returns trigger language plpgsql as $$
begin
  insert into list_deltas
    select p.merchant_id, p.environment, counted.list, counted.at, p.status, p.amount, p.n
    from (values
        (old.visible, old.merchant_id, old.environment, old.currency, old.connector, old.created_at, old.captured_at, old.status, old.amount, -1),
        (new.visible, new.merchant_id, new.environment, new.currency, new.connector, new.created_at, new.captured_at, new.status, new.amount, 1))
      as p (visible, merchant_id, environment, currency, connector, created_at, captured_at, status, amount, n),
      lateral (values ('payments', p.created_at), ('payments/' || p.currency || '/' || p.connector, p.created_at),
        ('captured/' || p.currency || '/' || p.connector, p.captured_at)) as counted (list, at)
    where p.visible and counted.at is not null;
  return null;
end $$;
drop trigger payments_counted on payments;
drop trigger payments_shown on payments;
drop trigger payments_hidden on payments;
drop trigger payments_moved on payments;
drop trigger payments_uncounted on payments;
create trigger payments_counted after insert on payments for each row when (new.visible) execute function count_payment();
create trigger payments_moved after update on payments for each row when (
    (old.visible, old.status, old.amount, old.created_at, old.captured_at, old.currency, old.connector, old.merchant_id, old.environment)
      is distinct from
    (new.visible, new.status, new.amount, new.created_at, new.captured_at, new.currency, new.connector, new.merchant_id, new.environment))
  execute function count_payment();
create trigger payments_uncounted after delete on payments for each row when (old.visible) execute function count_payment();

-- Those that are there, counted at once: a delta for each would be passed by every reader until all are folded. The buckets of amounts are
-- those of platform/lists/amount-bucket.ts: single amounts below 16, then eight to each doubling.
insert into list_counts
  select merchant_id, environment, list || '/' || currency || '/' || connector, grain, starts, status, bucket, count(*)
  from payments p,
    lateral (values ('payments', created_at), ('captured', captured_at)) as counted (list, at),
    lateral (select (at at time zone 'UTC')::date as day,
      case when amount < 16 then 0 else length(ltrim(amount::int::bit(32)::text, '0')) - 4 end as doublings) d,
    lateral (values ('day', day, -1), ('week', date_trunc('week', day)::date, (doublings * 8 + (amount >> doublings))::int)) as cell (grain, starts, bucket)
  where visible and at is not null
  group by 1, 2, 3, 4, 5, 6, 7;
