-- How many keys are active is asked under the merchant's lock whenever one is made: however many have ended, only these are looked at.
create index api_keys_active on api_keys (merchant_id, environment, expires_at) where revoked_at is null;
