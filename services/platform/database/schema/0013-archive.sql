-- The archive of old months (services/archive), for services that have a view `archivable` and functions `drop_archived` and `restore_archived`.

-- What an operator or the job wants of a month. It ends with `next_try_at` null.
create table archive_months (
  month date primary key check (extract(day from month) = 1),
  goal text not null check (goal in ('archived', 'restored')),
  next_try_at timestamptz default now(),
  -- Why the last try failed; empty: it did not.
  problem text not null default '',
  changed_at timestamptz not null default now()
);
create index archive_months_due on archive_months (next_try_at) where next_try_at is not null;

-- Files of a month. A later one may have a newer document of the same id.
create table archive_parts (
  id bigint generated always as identity primary key,
  month date not null references archive_months,
  file text not null unique,
  -- Of the whole file.
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint not null,
  documents integer not null check (documents > 0),
  first_id text collate "C" not null,
  last_id text collate "C" not null,
  -- Null: the rows are still in the database.
  dropped_at timestamptz
);
create index archive_parts_of_month on archive_parts (month, id);

-- Inserts rows as they were; columns that the table no longer has are left out, and new ones get their defaults.
create function insert_rows(into_table regclass, given jsonb) returns void language plpgsql as $$
declare
  columns text := (select string_agg(quote_ident(a.attname), ', ') from pg_attribute a
    where a.attrelid = into_table and a.attnum > 0 and not a.attisdropped and given -> 0 ? a.attname);
begin
  if jsonb_array_length(given) > 0 then
    execute format('insert into %1$s (%2$s) overriding system value select %2$s from jsonb_populate_recordset(null::%1$s, $1)', into_table, columns)
      using given;
  end if;
end $$;
