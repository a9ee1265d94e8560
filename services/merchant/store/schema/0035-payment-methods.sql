-- Methods that new sessions of an account offer. Wallets hold cards.
alter table connectors add column payment_methods text[] not null default '{card}' check (cardinality(payment_methods) > 0);
