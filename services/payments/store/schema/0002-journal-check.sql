-- Where the pass of the journal checker stands: one row, shared by all replicas.
create table journal_check (
  id smallint primary key default 1 check (id = 1),
  after_id text not null default '',
  due_at timestamptz not null default now()
);
insert into journal_check default values;
