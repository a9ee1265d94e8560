-- Networks that a live key was used from (rules/key-network.ts): at most 64 a key. No whole addresses.
create table api_key_networks (
  key_id text not null references api_keys,
  network cidr not null check (masklen(network) = case family(network) when 4 then 24 else 48 end),
  first_seen_at timestamptz not null,
  primary key (key_id, network)
);
