-- The ranges of addresses that a live key may be used from; none: everywhere, as of every key that the release before this one makes.
alter table api_keys add column allowed_ips text[] not null default '{}'
  check (cardinality(allowed_ips) <= 20 and (environment = 2 or allowed_ips = '{}'));
