-- A support desk finds payments by the order number in any case. The index serves the exact filter, too; the release before
-- works without one, only slower.
set local maintenance_work_mem = '256MB';
create index payments_by_reference_in_any_case on payments
  (merchant_id, environment, lower(order_reference) text_pattern_ops, created_at desc, id desc)
  include (status, amount, currency, connector, captured_at, order_reference) where visible and order_reference <> '';
drop index payments_by_reference;

-- Notes of a merchant's staff on a payment. Rows are only added.
create table payment_notes (
  id text primary key check (id ~ '^note_[0-9a-hjkmnp-tv-z]{26}$'),
  payment_id text not null references payments,
  -- The person who wrote it, `usr_…`.
  author text not null,
  note text not null check (length(note) between 1 and 1000),
  created_at timestamptz not null default now()
);
create index payment_notes_of_payment on payment_notes (payment_id, created_at);
