-- The merchant's own order number. Found by the whole of it, or by its beginning under any collation; sessions without one are in no
-- index. E-mails are found by their beginning too.
alter table sessions add column order_reference text not null default '' check (length(order_reference) <= 100);
create index sessions_by_reference on sessions (merchant_id, environment, order_reference text_pattern_ops, created_at desc, id desc)
  include (status) where order_reference <> '';
create index sessions_of_email on sessions
  (merchant_id, environment, lower(customer_email) text_pattern_ops, created_at desc, id desc) include (status)
  where customer_email <> '';
drop index sessions_by_email;
