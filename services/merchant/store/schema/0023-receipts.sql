-- Whether the payment page asks for an e-mail, and whether receipts go there: in both copies alike and in the same place, since the sandbox's
-- is begun by a trigger that takes the whole row. The release before has neither, so it changes none.
alter table brandings
  add column email_field text not null default 'hidden' check (email_field in ('hidden', 'optional', 'required')),
  add column email_receipts text not null default 'off' check (email_receipts in ('off', 'on'));
alter table sandbox_brandings
  add column email_field text not null default 'hidden' check (email_field in ('hidden', 'optional', 'required')),
  add column email_receipts text not null default 'off' check (email_receipts in ('off', 'on'));
