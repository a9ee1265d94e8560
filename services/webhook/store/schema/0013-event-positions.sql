-- The order in which events became visible, which is not the order of their ids: an id is made in the source, and its event may
-- arrive long after newer ones. A reader that goes on after the last position it saw misses nothing, because
-- one transaction at a time inserts events: from before its first position until its commit is visible.
-- Events from before this migration have no position.
alter table events
  add column position bigint,
  -- of the payment, grows with each of its changes
  add column version integer,
  add column amount bigint,
  add column currency text collate "C",
  add column reference text,
  add check ((amount is null) = (currency is null));
create index events_position on events (position) where position is not null;
create sequence event_positions;

-- A trigger, so that the previous release takes part too. The lock's number is arbitrary and used by nothing else.
create function position_events() returns trigger language plpgsql
  security definer set search_path = public, pg_temp as $$
begin
  if tg_level = 'STATEMENT' then
    perform pg_advisory_xact_lock(7655211);
    return null;
  end if;
  new.position := nextval('event_positions');
  return new;
end $$;
revoke execute on function position_events from public;

create trigger events_lock before insert on events for each statement execute function position_events();
create trigger events_position before insert on events for each row execute function position_events();
