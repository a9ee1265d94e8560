-- Fee schedules: what has begun is history and never changes. A schedule ends where the next one of its key begins, so two of one
-- key cannot overlap; that no two begin at once is the primary key.
alter table fee_schedules
  add column operator text not null default '' check (length(operator) <= 100),
  add column note text not null default '' check (length(note) <= 500);

create function fee_history_is_fixed() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    raise exception 'a fee schedule is never changed; add one that begins later' using errcode = 'check_violation';
  elsif tg_op = 'INSERT' and new.effective_from < now() then
    raise exception 'a fee schedule begins now or later' using errcode = 'check_violation';
  elsif tg_op = 'DELETE' and old.effective_from <= now() then
    raise exception 'a fee schedule that has begun stays' using errcode = 'check_violation';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end $$;
create trigger fee_history_is_fixed before insert or update or delete on fee_schedules
  for each row execute function fee_history_is_fixed();
