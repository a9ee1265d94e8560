-- Operators see sums of all merchants of the last days: read from the counts by day, without their older days.
create index money_days_by_day on money_days (environment, day);
create index list_counts_by_day on list_counts (environment, starts) where grain = 'day' and list like 'payments/%';
create index disputes_by_opening on disputes (environment, opened_at);
