-- Nothing new is begun on a server that this database's fence does not vouch for: after a restore or a failover that lost commits, a key that
-- is used again may have made something already. Asked of every row that begins something, since a process that runs on learns of it later.

-- PostgreSQL's system identifier, its timeline and the database's oid. Refused (42501) where a role may not ask.
create function current_server() returns text language sql stable as $$
  select (pg_control_system()).system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || oid
  from pg_database where datname = current_database()
$$;

-- Class 57 tells callers to try again later.
create function assert_known_server() returns trigger language plpgsql as $$
declare
  fence recovery%rowtype;
  -- A connection that writes never moves to another server, so that its first word holds for its life.
  server text := current_setting('tollbooth.server', true);
begin
  select * into fence from recovery;
  if fence.why = '' and fence.server <> '' and coalesce(server, '') = '' then
    server := set_config('tollbooth.server', current_server(), false);
  end if;
  if fence.why <> '' or (fence.server <> '' and fence.server <> server) then
    raise exception 'the database may lack what was begun before: nothing new is begun' using errcode = '57TB1';
  end if;
  return new;
end $$;

-- A key that is taken in again has no lock.
create trigger idempotency_keys_known_server before insert on idempotency_keys
  for each row when (new.lock_id is not null) execute function assert_known_server();
