-- What was announced to merchants, subscribed or not, for 30 days; one partition a day. The type stands before the id: a page of all
-- types is merged from a few, and needs no index of its own.
create table events (
  merchant_id text collate "C" not null,
  environment smallint not null check (environment in (1, 2)),
  type text collate "C" not null,
  id text collate "C" not null check (id like 'evt\_%'),
  payment_id text collate "C",
  body bytea not null check (length(body) between 2 and 1024),
  primary key (merchant_id, environment, type, id)
) partition by range (id);
create index events_payment on events (merchant_id, payment_id, id) where payment_id is not null;

-- The same functions as before, for three tables.
create or replace function check_partition(parent text, day date) returns void language plpgsql as $$
begin
  if parent is null or parent not in ('deliveries', 'attempts', 'events') then
    raise exception 'no daily table: %', parent using errcode = 'invalid_parameter_value';
  end if;
  if day is null or day not between '2020-01-01' and '2199-12-31' then
    raise exception 'no day of deliveries: %', day using errcode = 'invalid_parameter_value';
  end if;
end $$;

create or replace function make_partition(parent text, day date) returns void language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  part text := parent || to_char(day, '_YYYYMMDD');
  from_bound text;
  to_bound text;
begin
  perform check_partition(parent, day);
  if parent = 'attempts' then
    from_bound := to_char(day, 'YYYY-MM-DD') || 'T00:00:00Z';
    to_bound := to_char(day + 1, 'YYYY-MM-DD') || 'T00:00:00Z';
  else
    from_bound := first_delivery_id(day);
    to_bound := first_delivery_id(day + 1);
    if parent = 'events' then
      from_bound := 'evt' || substr(from_bound, 4);
      to_bound := 'evt' || substr(to_bound, 4);
    end if;
  end if;
  -- Attached, not made in place: that takes no lock that stops readers or writers.
  execute format('create table public.%I (like public.%I including all)', part, parent);
  execute format('alter table public.%I attach partition public.%I for values from (%L) to (%L)', parent, part, from_bound, to_bound);
end $$;
