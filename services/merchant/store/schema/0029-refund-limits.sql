-- A member's refund limit in further currencies: minor units by ISO 4217 code. The release before reads the first currency
-- alone, and so refuses the others.
alter table memberships add column refund_others jsonb not null default '{}' check (jsonb_typeof(refund_others) = 'object');
alter table invitations add column refund_others jsonb not null default '{}' check (jsonb_typeof(refund_others) = 'object');
