-- A mishap can capture more than was authorized.
alter table intents drop constraint intents_captured_amount_check;
alter table intents add constraint intents_captured_amount_check
  check (captured_amount >= 0 and (captured_amount = 0 or captured_amount >= amount or capture_method = 'manual'));
