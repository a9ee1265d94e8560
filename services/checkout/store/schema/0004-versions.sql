-- The version of the payment that the session last heard of: news of an older one changes nothing. 0: a release that told none.
alter table sessions add column heard_version bigint not null default 0;
