-- The language of the buyer's page, for the receipt; null: nobody told one.
alter table attempts add column locale text check (length(locale) <= 35);
