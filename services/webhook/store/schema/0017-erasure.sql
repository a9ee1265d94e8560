-- Personal data of a payment that is erased: its deliveries lose the object, and keep its ids.
create function without_object(body bytea) returns bytea language sql immutable as $$
  select convert_to((convert_from(body, 'UTF8')::jsonb || '{"data": null}')::text, 'UTF8')
$$;

create function erase_bodies(merchant text, payment text) returns void language plpgsql as $$
begin
  update deliveries set body = without_object(body)
    where merchant_id = merchant and payment_id = payment and convert_from(body, 'UTF8')::jsonb ? 'data';
  update delivery_queue set body = without_object(body)
    where merchant_id = merchant and payment_id = payment and convert_from(body, 'UTF8')::jsonb ? 'data';
end $$;

-- The same for a session that ended without an attempt: its deliveries name no payment.
create function erase_session_bodies(merchant text, session text) returns void language plpgsql as $$
begin
  update deliveries set body = without_object(body)
    where merchant_id = merchant and payment_id is null and event_type in ('checkout_session.expired', 'checkout_session.canceled')
      and convert_from(body, 'UTF8')::jsonb -> 'data' ->> 'id' = session;
  update delivery_queue set body = without_object(body)
    where merchant_id = merchant and payment_id is null and convert_from(body, 'UTF8')::jsonb -> 'data' ->> 'id' = session;
end $$;
