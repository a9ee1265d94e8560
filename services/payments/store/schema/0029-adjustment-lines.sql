-- An adjustment is decided as it was proposed: lines are only added to one that is open, or those of one that was approved could be posted without anybody's word.
create function adjustment_lines_are_proposed() returns trigger language plpgsql as $$
begin
  if exists (select from journal_adjustments where id = new.adjustment_id and state <> 'proposed')
  then raise exception 'an adjustment that is decided takes no more lines' using errcode = 'check_violation'; end if;
  return null;
end $$;
create constraint trigger adjustment_lines_are_proposed after insert on journal_adjustment_lines
  for each row execute function adjustment_lines_are_proposed();
