-- Whatever will be sent to a processor is begun on a known server only (0010-known-server.sql of the platform). The operation of a payment
-- that is taken in again has ended: its intent is there.
create trigger operations_known_server before insert on operations
  for each row when (new.state = 'started') execute function assert_known_server();
