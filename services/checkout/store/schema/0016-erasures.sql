-- Erasures of buyers' personal data (flows/buyers/erase-buyer.ts). A finished one no longer names the buyer.
create table erasures (
  id text collate "C" primary key check (id ~ '^era_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text collate "C" not null,
  environment smallint not null check (environment in (1, 2)),
  -- Whose data while it runs; empty: a payment's, or it is finished.
  customer_email text not null check (length(customer_email) <= 254),
  -- Empty: everything with the e-mail.
  payment_id text collate "C" not null,
  payments integer not null default 0 check (payments >= 0),
  sessions integer not null default 0 check (sessions >= 0),
  payment_links integer not null default 0 check (payment_links >= 0),
  tries integer not null default 0,
  -- When the job continues; null: it is finished.
  next_try_at timestamptz,
  created_at timestamptz not null,
  finished_at timestamptz,
  check ((next_try_at is null) = (finished_at is not null)),
  check (finished_at is null or customer_email = '')
);
create index erasures_of_merchant on erasures (merchant_id, environment, id desc);
create index erasures_due on erasures (next_try_at) where next_try_at is not null;

-- A writer that read the session before cannot bring its data back, and a buyer's later e-mail is not stored.
alter table sessions add column erased_at timestamptz;
create function keep_session_erased() returns trigger language plpgsql as $$
begin
  new.customer_email := '';
  new.description := '[erased]';
  new.metadata := '{}';
  new.line_items := '[]';
  new.receipt_url := '';
  return new;
end $$;
create trigger sessions_stay_erased before update on sessions for each row when (new.erased_at is not null)
  execute function keep_session_erased();

-- Erases the owner's sessions, with what risk screening counts of them. @returns how many were not erased before
create function erase_sessions(ids text[], merchant text, env smallint) returns integer language plpgsql as $$
declare
  erased integer;
begin
  perform from sessions where id = any(ids) and merchant_id = merchant and environment = env order by id for update;
  update risk_attempts a set email = '', address_hash = null, card_fingerprint = '' from sessions t
    where t.id = any(ids) and t.merchant_id = merchant and t.environment = env and a.session_id = t.id;
  update sessions set erased_at = now()
    where id = any(ids) and merchant_id = merchant and environment = env and erased_at is null;
  get diagnostics erased = row_count;
  return erased;
end $$;

-- @returns how many links had the e-mail
create function erase_links(merchant text, env smallint, wanted text) returns integer language plpgsql as $$
declare
  erased integer;
begin
  update payment_links set customer_email = '', description = '', line_items = '[]'
    where merchant_id = merchant and environment = env and customer_email <> '' and lower(customer_email) = lower(wanted);
  get diagnostics erased = row_count;
  return erased;
end $$;
