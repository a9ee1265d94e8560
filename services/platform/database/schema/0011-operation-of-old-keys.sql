-- Release 0.1.0 does not name a key's operation. The object that the key made shows it, so its rows keep their answers: those that exist,
-- and those that replicas of 0.1.0 add during an update. The next migration requires an operation.
create function operation_of_object(object_id text) returns text language sql immutable as $$
  select case split_part(object_id, '_', 1)
    when 'cs' then 'create_session' when 'pay' then 'create_payment' when 're' then 'refund_payment' else '' end
$$;

update idempotency_keys set operation = operation_of_object(object_id) where operation = '';

create function name_operation() returns trigger language plpgsql as $$
begin
  new.operation := operation_of_object(new.object_id);
  return new;
end $$;

create trigger name_operation before insert on idempotency_keys
  for each row when (new.operation = '') execute function name_operation();
