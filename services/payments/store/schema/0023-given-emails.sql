-- Which of the e-mails that the buyer gave on the page is noted (checkout counts them); 0: none, what is there is the merchant's.
alter table payments add column email_turn integer not null default 0 check (email_turn >= 0);
