-- Whether a new session may go to another active connector when nothing can be sent to the primary one.
alter table merchants add column failover_enabled boolean not null default false;
