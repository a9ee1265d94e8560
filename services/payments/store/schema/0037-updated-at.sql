-- When a payment's facts last changed, for lists of what changed in a window. Null: not since this migration. Only the statements that
-- write facts set these columns; those of the reconcile job's schedule do not. A trigger, so that the previous release takes part too.
alter table payments add column updated_at timestamptz;
alter table payments alter column updated_at set default clock_timestamp();
create function note_payment_update() returns trigger language plpgsql as $$
begin
  new.updated_at := clock_timestamp();
  return new;
end $$;
create trigger payments_note_update before update of outcome, refunded_amount, visible, customer_email, connector on payments
  for each row execute function note_payment_update();
create index payments_by_update on payments (merchant_id, environment, updated_at, id) where visible and updated_at is not null;
