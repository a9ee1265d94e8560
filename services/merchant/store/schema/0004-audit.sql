-- Who did what: one row per administrative event, written from the events themselves, so that nothing that was committed is
-- missing and a repeat changes nothing. Rows are never changed and never removed.
create table audit_entries (
  -- The event's id, which sorts by time.
  id text collate "C" primary key check (id ~ '^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  occurred_at timestamptz not null,
  merchant_id text collate "C" not null,
  -- 0: both.
  environment smallint not null check (environment between 0 and 2),
  actor text collate "C" not null,
  request_id text collate "C" not null,
  action text not null,
  object_id text collate "C" not null,
  status text not null,
  details jsonb not null
);
create index audit_entries_of_merchant on audit_entries (merchant_id, id);
create index audit_entries_of_object on audit_entries (object_id, id);
create index audit_entries_of_actor on audit_entries (actor, id) where actor <> '';

create function audit_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'check_violation';
end $$;
create trigger audit_is_append_only before update or delete or truncate on audit_entries
  for each statement execute function audit_is_append_only();

-- Requests of the public API, by day: a day's table is dropped when its time is over. The id begins with the time.
create table api_requests (
  id text collate "C" primary key check (id ~ '^req_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  at timestamptz not null,
  method text not null,
  path text not null,
  status smallint not null,
  error_code text not null,
  duration_ms double precision not null,
  api_key_id text collate "C" not null,
  merchant_id text collate "C" not null,
  environment smallint not null
) partition by range (id);
create index api_requests_of_merchant on api_requests (merchant_id, environment, id) where merchant_id <> '';
