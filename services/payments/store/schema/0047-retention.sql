-- Fingerprints of cards end some time after the payment (store/erasure.ts). Ids sort by time, so a cursor finds the payments.
create table retention_cursor (
  one_row boolean primary key default true check (one_row),
  -- No payment up to this id has the fingerprint of its card.
  after text not null default ''
);
insert into retention_cursor default values;

-- The end of a fingerprint is no new version: the other services and the merchant need not be notified. No other writer empties it alone.
create or replace trigger payments_count_version before update on payments for each row
  when (not (old.card_fingerprint is not null and new.card_fingerprint is null and new.card_last4 is not null))
  execute function count_payment_version();

-- A late report of the processor cannot bring it back. The shortest setting is 30 days, so younger payments need no look at the cursor.
create function keep_fingerprint_ended() returns trigger language plpgsql as $$
begin
  if new.id <= (select after from retention_cursor) then
    new.card_fingerprint := null;
  end if;
  return new;
end $$;
create trigger payments_fingerprint_stays_ended before update of card_fingerprint on payments for each row
  when (new.card_fingerprint <> '' and new.card_fingerprint is distinct from old.card_fingerprint
    and new.created_at < now() - interval '20 days')
  execute function keep_fingerprint_ended();

-- Adyen's alias is the fingerprint, too.
create function keep_alias_ended() returns trigger language plpgsql as $$
begin
  if new.reference like 'pay\_%' and left(new.reference, 30) <= (select after from retention_cursor) then
    new.details := new.details - 'alias';
  end if;
  return new;
end $$;
create trigger processor_notices_alias_stays_ended before insert on processor_notices for each row when (new.details ? 'alias')
  execute function keep_alias_ended();
