-- Sessions are found by the order number in any case. The index serves the exact filter, too; the release before works
-- without one, only slower.
create index sessions_by_reference_in_any_case on sessions
  (merchant_id, environment, lower(order_reference) text_pattern_ops, created_at desc, id desc)
  include (status, order_reference) where order_reference <> '';
drop index sessions_by_reference;
