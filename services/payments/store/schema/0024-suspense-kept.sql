-- Of what the attempt of a held intent took, the part that is booked as the payment's own capture: `amount` is the rest. The release before
-- goes on beside it: it leaves it 0.
alter table suspense add column kept_amount bigint not null default 0 check (kept_amount >= 0);
