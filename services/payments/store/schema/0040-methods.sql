-- How the buyer paid; null: by card, or not known.
-- Offered: the types that the intent offers; null: an earlier release, or a payment without a session.
alter table payments add column method jsonb, add column offered_methods text[];
alter table attempts add column method jsonb;
