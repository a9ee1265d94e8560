-- A processor's page may end before its session does: then another intent takes the place of the first, and this counts how often that
-- happened. Each is an operation of its own, whose reference is the payment's id with its number.
alter table payments add column renewals integer not null default 0 check (renewals >= 0);
-- Its operations, beside those that there are.
do $$
declare
  kinds text;
begin
  select string_agg(kind[1], ', ') into kinds from pg_constraint,
    regexp_matches(pg_get_constraintdef(oid), '(''[a-z_]+'')::text', 'g') as kind
    where conrelid = 'operations'::regclass and conname = 'operations_kind_check';
  alter table operations drop constraint operations_kind_check;
  execute format('alter table operations add constraint operations_kind_check check (kind in (%s, ''renew_intent''))', kinds);
end $$;
