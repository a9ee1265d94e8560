-- The sum of a payment's refunds is compared with the payment when it can have changed: a pending refund that succeeds, or one that
-- gets its reference at the processor, counts as before.
drop trigger refunds_match_payment on refunds;
create constraint trigger refunds_match_payment after insert on refunds
  deferrable initially deferred for each row execute function refunds_match_payment();
create constraint trigger moved_refunds_match_payment after update on refunds
  deferrable initially deferred for each row
  when ((old.payment_id, old.amount, old.status in ('pending', 'succeeded'))
    is distinct from (new.payment_id, new.amount, new.status in ('pending', 'succeeded')))
  execute function refunds_match_payment();

-- Payments with refunds stayed on the reconcile job's list for ever, one question a day each; the settling of a refund takes them off
-- it now. Those that are on it with nothing left to ask:
update payments p set next_check_at = null where outcome = 'succeeded' and next_check_at is not null
  and not exists (select from refunds r where r.payment_id = p.id and r.status = 'pending');
