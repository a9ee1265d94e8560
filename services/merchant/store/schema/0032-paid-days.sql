-- What a merchant was paid in a day of its time zone, while someone wants the daily mail; deleted when the mail is queued.
create table paid_days (
  merchant_id text collate "C" not null references merchants,
  environment smallint not null,
  day date not null,
  currency text not null,
  -- Minor units.
  total bigint not null check (total > 0),
  count integer not null check (count > 0),
  ends_at timestamptz not null,
  primary key (merchant_id, environment, day, currency)
);
create index paid_days_by_end on paid_days (ends_at);
