-- Reports about an intent that is set aside overtake each other, and some never come: it is looked at again.
alter table suspense
  -- Null: no more, or never.
  add column next_look_at timestamptz,
  -- Looks since the processor's last answer.
  add column unanswered_looks smallint not null default 0;
create index suspense_next_look on suspense (next_look_at) where next_look_at is not null;
update suspense set next_look_at = now() + random() * interval '10 minutes'
where kind <> 'second_refund' and resolution <> 'taken';

-- Here, so that no writer forgets it, of whichever release. What a person took is the payment's, which has looks of its own; a second
-- refund is no intent.
create function schedule_suspense_look() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (old.amount, old.returned_amount, old.paid_by, old.kept_amount, old.state, old.resolution)
    is not distinct from (new.amount, new.returned_amount, new.paid_by, new.kept_amount, new.state, new.resolution) then
    return new;
  end if;
  new.unanswered_looks := 0;
  new.next_look_at := case when new.kind <> 'second_refund' and new.resolution <> 'taken' then now() + interval '60 seconds' end;
  return new;
end $$;
create trigger suspense_is_looked_at_again before insert or update on suspense
  for each row execute function schedule_suspense_look();
