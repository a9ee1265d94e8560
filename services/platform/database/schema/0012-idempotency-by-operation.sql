-- A key stands for one request of one operation: this constraint finds its row, whatever name (`key`) the row has. The name stays
-- because release 0.1.0 looks rows up by it: the bare key for the operation that used it first, `<operation>\x01<key>` for any other.

-- Rows without an operation are older than 0.1.0, and so past their three days.
delete from idempotency_keys where operation = '';

alter table idempotency_keys
  add column request_key text not null
    generated always as (case when starts_with(key, operation || chr(1)) then substr(key, length(operation) + 2) else key end) stored;

-- 0.1.0 could give one request two rows. The one with an answer stays; of two alike, the older.
delete from idempotency_keys k using idempotency_keys other
where (other.merchant_id, other.environment, other.operation, other.request_key) = (k.merchant_id, k.environment, k.operation, k.request_key)
  and (other.answer is null, other.created_at, other.key) < (k.answer is null, k.created_at, k.key);

alter table idempotency_keys
  add constraint idempotency_keys_of_request unique (merchant_id, environment, operation, request_key),
  add constraint idempotency_keys_operation check (operation <> '');
