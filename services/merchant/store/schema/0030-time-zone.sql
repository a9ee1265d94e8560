-- The IANA time zone of a merchant's lists and filters in the console; '': the browser's.
alter table merchants add column time_zone text not null default '' check (length(time_zone) <= 64);
