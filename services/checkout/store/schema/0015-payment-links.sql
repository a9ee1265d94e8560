-- What buyers may pay at a public address, and how often. Each opening makes a session, which reserves a use until it ends unpaid.
create table payment_links (
  id text primary key check (id ~ '^pl_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text not null,
  environment smallint not null check (environment in (1, 2)),
  status text not null default 'active' check (status in ('active', 'closed')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- Minor units. Equal: the amount is fixed; else the buyer chooses one between them.
  amount_min bigint not null check (amount_min between 1 and 99999999),
  amount_max bigint not null check (amount_max between amount_min and 99999999),
  description text not null check (length(description) <= 255),
  order_reference text not null check (length(order_reference) <= 100),
  customer_email text not null check (length(customer_email) <= 254),
  line_items jsonb not null
    check (line_items = '[]' or (amount_min = amount_max and coalesce(line_items_fit(line_items, amount_min), false))),
  capture_method text not null check (capture_method in ('automatic', 'manual')),
  locale text not null,
  -- How many may be paid; null: any number.
  uses_max integer check (uses_max between 1 and 10000),
  expires_at timestamptz check (expires_at > created_at),
  created_by text not null,
  created_at timestamptz not null,
  -- Each opening of a link for one payment leads to the same session.
  check (uses_max <> 1 or amount_min = amount_max),
  -- The e-mail becomes that of the payment, so there is one buyer.
  check (customer_email = '' or uses_max = 1)
);
create index payment_links_newest on payment_links (merchant_id, environment, id desc);

-- Empty: a session that was not made from a link, as all of the release before.
alter table sessions add column payment_link_id text not null default '';
create index sessions_of_link on sessions (payment_link_id, status) where payment_link_id <> '';
