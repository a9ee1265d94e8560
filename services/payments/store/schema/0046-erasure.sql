-- Erasure of a buyer's personal data (flows/erase-payments.ts). Amounts, states and ids stay, so the books do not change.
-- `card_erased`: the last digits of card and bank account went, too.
alter table payments add column erased_at timestamptz, add column card_erased boolean not null default false;

-- A later report of the processor, or a writer that read the payment before, cannot bring the data back.
create function keep_payment_erased() returns trigger language plpgsql as $$
begin
  new.customer_email := '';
  new.description := '[erased]';
  new.metadata := '{}';
  new.receipt_url := '';
  new.card_fingerprint := null;
  if new.card_erased then
    new.card_brand := null;
    new.card_last4 := null;
    new.card_funding := null;
    new.card_exp_month := null;
    new.card_exp_year := null;
    new.method := new.method - 'bank';
  end if;
  return new;
end $$;
create trigger payments_stay_erased before update on payments for each row when (new.erased_at is not null)
  execute function keep_payment_erased();

-- E-mails of payments that no attempt has made visible; payments_of_email has the others.
create index payments_of_unseen_email on payments (merchant_id, environment, lower(customer_email))
  where not visible and customer_email <> '';

-- Notices of a payment: its id, which a number may follow.
create index processor_notices_of_payment on processor_notices (left(reference, 30)) where reference <> '';

-- Erases payments whose rows the caller has locked, and what belongs to them. Of the owner, since notes are only added otherwise.
-- Reports that may list them expire. @returns the payments that were not erased before, with their sessions
create function erase_payments(ids text[], keeps_card boolean) returns table (id text, session_id text, visible boolean)
  language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  emails text[];
begin
  select array_agg(distinct p.customer_email) into emails from payments p
    where p.id = any(ids) and p.erased_at is null and p.customer_email <> '';
  update refunds r set reason = '' where r.payment_id = any(ids) and r.reason <> '';
  update attempts a set method = a.method - 'bank' where a.payment_id = any(ids) and not keeps_card and a.method is not null;
  update dispute_evidence e set texts = '{}', files = '{}' from disputes d where d.id = e.dispute_id and d.payment_id = any(ids);
  update dispute_files f set name = '' from disputes d where d.id = f.dispute_id and d.payment_id = any(ids);
  delete from dispute_file_pieces i using dispute_files f, disputes d
    where f.id = i.file_id and d.id = f.dispute_id and d.payment_id = any(ids);
  update processor_notices n set details = n.details - array['alias', 'tokenization.shopperReference']
    where left(n.reference, 30) = any(ids) and n.reference <> '';
  update payment_notes n set note = '[erased]' where n.payment_id = any(ids);
  update reports r set expires_at = least(r.expires_at, now()) from payments p
    where p.id = any(ids) and p.erased_at is null and r.merchant_id = p.merchant_id and r.environment = p.environment and r.status = 'ready'
      and r.type in ('payments', 'refunds', 'disputes');
  return query
    update payments p set erased_at = now(), card_erased = not keeps_card, version = p.version where p.id = any(ids) and p.erased_at is null
    returning p.id, p.session_id, p.visible;
  delete from customer_emails c using payments p where p.id = any(ids) and (c.merchant_id, c.environment) = (p.merchant_id, p.environment)
    and c.email = any(emails) and not exists (select from payments o where o.merchant_id = c.merchant_id
      and o.environment = c.environment and o.visible and o.customer_email <> '' and o.customer_email = c.email);
end $$;
