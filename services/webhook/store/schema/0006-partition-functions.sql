-- The service's role owns no table, so the owner makes and drops the daily partitions for it, by these functions and no other way.
-- Each takes a day and one of two names, nothing that could be SQL.
create function check_partition(parent text, day date) returns void language plpgsql as $$
begin
  if parent is null or parent not in ('deliveries', 'attempts') then
    raise exception 'no daily table: %', parent using errcode = 'invalid_parameter_value';
  end if;
  if day is null or day not between '2020-01-01' and '2199-12-31' then
    raise exception 'no day of deliveries: %', day using errcode = 'invalid_parameter_value';
  end if;
end $$;

-- Not above any delivery id of the day or later, above every earlier one: the ten characters of a ULID that hold its milliseconds.
create function first_delivery_id(day date) returns text language plpgsql immutable as $$
declare
  rest bigint := extract(epoch from day)::bigint * 1000;
  digits text := '';
begin
  for i in 1..10 loop
    digits := substr('0123456789abcdefghjkmnpqrstvwxyz', (rest % 32)::integer + 1, 1) || digits;
    rest := rest / 32;
  end loop;
  return 'whd_' || digits;
end $$;

create function make_partition(parent text, day date) returns void language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  part text := parent || to_char(day, '_YYYYMMDD');
  from_bound text;
  to_bound text;
begin
  perform check_partition(parent, day);
  if parent = 'deliveries' then
    from_bound := first_delivery_id(day);
    to_bound := first_delivery_id(day + 1);
  else
    from_bound := to_char(day, 'YYYY-MM-DD') || 'T00:00:00Z';
    to_bound := to_char(day + 1, 'YYYY-MM-DD') || 'T00:00:00Z';
  end if;
  -- Attached, not made in place: that takes no lock that stops readers or writers.
  execute format('create table public.%I (like public.%I including all)', part, parent);
  execute format('alter table public.%I attach partition public.%I for values from (%L) to (%L)', parent, part, from_bound, to_bound);
end $$;

-- Needs the whole table for a moment, and so waits a tenth of a second at most for those who use it: nobody queues behind it for longer.
-- The caller tries again later. (Detaching concurrently stops nobody, but cannot be done in a function.)
create function drop_partition(parent text, day date) returns void language plpgsql
  security definer set search_path = public, pg_temp set lock_timeout = '100ms' as $$
begin
  perform check_partition(parent, day);
  execute format('drop table if exists public.%I', parent || to_char(day, '_YYYYMMDD'));
end $$;

revoke execute on function make_partition, drop_partition from public;
