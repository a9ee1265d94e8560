-- Whether the payment of a session is captured at once or by its merchant later.
alter table sessions
  add column capture_method text not null default 'automatic' check (capture_method in ('automatic', 'manual'));
