-- Sessions that were never paid are deleted some time after their end (store/retention.ts). Ids sort by time, so a cursor finds them.
create table retention_cursor (
  one_row boolean primary key default true check (one_row),
  -- Sessions up to this id have been decided: deleted, or kept for good.
  after text not null default ''
);
insert into retention_cursor default values;
