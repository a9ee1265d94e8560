-- Old months leave the database (services/archive): a session is one JSON document, which is stored outside, read back, compared and dropped.

-- Documents of sessions that can leave the database, without personal data, ciphertext and a secret that would match.
create view archivable as
select t.id, t.merchant_id, t.environment, t.status, t.currency, t.amount, t.order_reference, t.payment_link_id, t.created_at, t.completed_at,
  jsonb_build_object('id', t.id,
    'session', to_jsonb(t) - array['render', 'erased_at'] || jsonb_build_object('customer_email', '', 'description', '', 'metadata', '{}'::jsonb,
      'line_items', '[]'::jsonb, 'receipt_url', '', 'secret_hash', '\x' || repeat('00', 32), 'secret_hash_key_id', '')) as document
from sessions t
where t.next_check_at is null;

-- Drops the sessions whose rows still are what their documents contain. @returns how many
create function drop_archived(of_month date, documents jsonb) returns integer language plpgsql security definer as $$
declare
  given text[] := (select array_agg(d ->> 'id') from jsonb_array_elements(documents) d);
  ids text[];
begin
  perform from sessions where id = any(given) order by id for update;
  -- Materialized: each document is made once.
  with filed as materialized (select d ->> 'id' as id, d as document from jsonb_array_elements(documents) d),
    stored as materialized (select id, document from archivable where id = any(given))
  select array_agg(stored.id) into ids from stored join filed using (id) where stored.document = filed.document;
  delete from sessions where id = any(ids);
  return coalesce(array_length(ids, 1), 0);
end $$;

-- Restores the sessions of these documents that are not in the database. @returns how many
create function restore_archived(of_month date, documents jsonb) returns integer language plpgsql security definer as $$
declare
  missing jsonb := (select coalesce(jsonb_agg(d -> 'session'), '[]') from jsonb_array_elements(documents) d
    where not exists (select from sessions t where t.id = d ->> 'id'));
begin
  perform insert_rows('sessions', missing);
  return jsonb_array_length(missing);
end $$;

-- They run as the owner; `migrate` opens them to the service.
revoke execute on function drop_archived, restore_archived from public;
