-- An intent at a processor is in the books of one payment. Two payments cannot have it (payments_connector_connector_ref_key); here, that it is
-- not one payment's own and set aside in the name of another. What the tables hold already is not looked at.
create function intent_has_one_payment() returns trigger language plpgsql as $$
declare
  owner text := case tg_table_name when 'payments' then to_jsonb(new) ->> 'id' else to_jsonb(new) ->> 'payment_id' end;
begin
  if exists (
    select from payments p where p.connector = new.connector and p.connector_ref = new.connector_ref and p.id <> owner
    union all
    select from suspense s where s.connector = new.connector and s.connector_ref = new.connector_ref and s.payment_id <> owner
      and s.kind <> 'second_refund'
  ) then
    raise exception '% is in the books of another payment than %', new.connector_ref, owner
      using errcode = 'unique_violation', constraint = 'intent_has_one_payment';
  end if;
  return new;
end $$;
create trigger payments_intent_has_one_payment before update of connector_ref on payments for each row
  when (new.connector_ref is distinct from old.connector_ref) execute function intent_has_one_payment();
create trigger suspense_intent_has_one_payment before insert on suspense for each row
  when (new.kind <> 'second_refund') execute function intent_has_one_payment();
