-- Cards that buyers entered, by token. The card number and the CVC have no column.
create table payment_methods (
  id text primary key,
  account text not null,
  brand text not null,
  last4 text not null check (length(last4) = 4),
  funding text not null,
  fingerprint text not null,
  exp_month integer not null,
  exp_year integer not null,
  -- which test card it is, in words
  behaviour text not null,
  has_postal_code boolean not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index payment_methods_by_age on payment_methods (expires_at);
