-- The trace of the call that caused the event, so that attempts are a part of it. Null where nobody knows it.
alter table delivery_queue add column traceparent text;
