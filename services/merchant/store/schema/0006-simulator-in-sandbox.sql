-- The simulator is for the sandbox: nobody pays there. A live account of it, which releases before this one let in, gets no new sessions
-- from here on. It stays as the account of payments that were made with it, so that they can still be read and refunded; its merchant
-- needs an account at a processor (npm run connector -- add).
update connectors set is_active = false, is_primary = false where connector = 'simulator' and environment = 2;
alter table connectors add constraint connectors_simulator_in_sandbox
  check (connector <> 'simulator' or environment = 1 or not (is_active or is_primary));
