-- What happened to operations whose outcome was in doubt, and who ended them on what proof. Append-only by use; a few rows each.
create table operation_history (
  id bigint generated always as identity primary key,
  operation_id text not null references operations,
  fact text not null check (fact in ('in_doubt', 'asked', 'parked', 'retried', 'resolved')),
  -- Empty: the service itself.
  operator text not null default '' check (length(operator) <= 100),
  note text not null default '' check (length(note) <= 2000),
  at timestamptz not null default now(),
  -- Nobody but a named operator retries or resolves.
  check ((fact in ('retried', 'resolved')) = (operator <> ''))
);
create index operation_history_of_operation on operation_history (operation_id, id);
create index operations_parked on operations (id) where state = 'parked';
