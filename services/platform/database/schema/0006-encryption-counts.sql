-- How often each encryption key has encrypted for this database. Processes add a block here before they encrypt, so the number is never
-- below what happened, whoever crashes. Under random nonces of 96 bits a key is good for 2^32 (NIST SP 800-38D, 8.3).
create table encryption_counts (
  key_id text primary key check (length(key_id) between 1 and 16),
  encryptions bigint not null check (encryptions between 0 and 4294967296),
  first_used_at timestamptz not null default now()
) with (fillfactor = 50);
