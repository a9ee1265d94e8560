-- The service's role owns no table, so the owner makes and drops the daily tables of the request log for it, by these functions and no
-- other way. They take a day, nothing that could be SQL.
create function request_day_table(day date) returns text language plpgsql immutable as $$
begin
  if day is null or day not between '2020-01-01' and '2199-12-31' then
    raise exception 'no day of requests: %', day using errcode = 'invalid_parameter_value';
  end if;
  return 'api_requests_' || to_char(day, 'YYYY_MM_DD');
end $$;

-- Not above any Request-Id of the day or later, above every earlier one: the ten characters of a ULID that hold its milliseconds.
create function first_request_id(day date) returns text language plpgsql immutable as $$
declare
  rest bigint := extract(epoch from day)::bigint * 1000;
  digits text := '';
begin
  for i in 1..10 loop
    digits := substr('0123456789abcdefghjkmnpqrstvwxyz', (rest % 32)::integer + 1, 1) || digits;
    rest := rest / 32;
  end loop;
  return 'req_' || digits;
end $$;

create function make_request_day(day date) returns void language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  part text := request_day_table(day);
begin
  -- Attached, not made in place: that takes no lock that stops readers or writers.
  execute format('create table public.%I (like public.api_requests including all)', part);
  execute format('alter table public.api_requests attach partition public.%I for values from (%L) to (%L)',
    part, first_request_id(day), first_request_id(day + 1));
end $$;

-- Needs the whole table for a moment, and so waits a tenth of a second at most for those who use it: nobody queues behind it for longer.
-- The caller tries again later.
create function drop_request_day(day date) returns void language plpgsql
  security definer set search_path = public, pg_temp set lock_timeout = '100ms' as $$
begin
  execute format('drop table public.%I', request_day_table(day));
end $$;

revoke execute on function make_request_day, drop_request_day from public;
