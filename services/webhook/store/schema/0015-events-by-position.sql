-- A merchant's events after a position, for readers that go on where they stopped.
create index events_merchant_position on events (merchant_id, environment, position) where position is not null;
