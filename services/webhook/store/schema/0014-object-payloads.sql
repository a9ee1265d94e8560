-- Deliveries of an endpoint with the payload `object` have the object itself. It is read from its service after the event arrived: until
-- then the delivery is in awaited_objects and not in delivery_queue, where the previous release would send it.
alter table endpoints add column payload text not null default 'reference' check (payload in ('reference', 'object'));

create table awaited_objects (
  merchant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  environment smallint not null check (environment in (1, 2)),
  event_type text collate "C" not null,
  trigger text not null check (trigger in ('auto', 'manual')),
  traceparent text,
  -- When the object is read next; a read moves it, so that one process reads at a time.
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  primary key (merchant_id, endpoint_id, event_id)
);
create index awaited_objects_due on awaited_objects (due_at);

alter table delivery_queue drop constraint delivery_queue_body_check,
  add constraint delivery_queue_body_check check (length(body) between 2 and 65536);
