-- How often the buyer gave an e-mail on the page; 0: what is there, if anything, is the merchant's. The release before gives none.
alter table sessions add column email_turn integer not null default 0 check (email_turn >= 0);
