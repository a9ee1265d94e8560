-- How the buyer paid; null: by card, or not known.
alter table payments add column method jsonb;
alter table attempts add column method jsonb;
