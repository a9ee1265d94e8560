-- A payment's version also counts the changes of its refunds, disputes and evidence, which are shown with it: two states that
-- differ have different versions, whichever release writes them. Each writer holds the lock on the payment.
create function count_change_of_part() returns trigger language plpgsql as $$
begin
  update payments set version = version where id = new.payment_id;
  return null;
end $$;
create function count_change_of_evidence() returns trigger language plpgsql as $$
begin
  update payments set version = version where id = (select payment_id from disputes where id = new.dispute_id);
  return null;
end $$;

-- A refund that counts changes the payment's amount, and with it the version.
create trigger refunds_new_version after insert on refunds for each row
  when (new.status not in ('pending', 'succeeded')) execute function count_change_of_part();
create trigger refunds_next_version after update on refunds for each row
  when ((old.status, old.connector_ref, old.failure_code, old.failure_message)
    is distinct from (new.status, new.connector_ref, new.failure_code, new.failure_message))
  execute function count_change_of_part();
create trigger disputes_next_version after insert or update on disputes for each row execute function count_change_of_part();
create trigger evidence_next_version after insert or update on dispute_evidence for each row
  execute function count_change_of_evidence();

-- Such a change is one of the payment for lists of what changed, too.
drop trigger payments_note_update on payments;
create trigger payments_note_update before update of outcome, refunded_amount, visible, customer_email, connector, version on payments
  for each row execute function note_payment_update();
