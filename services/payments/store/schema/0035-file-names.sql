-- Names of the files of disputes, as their people know them. Files of the previous release, and of the API, have none.
alter table dispute_files add column name text not null default '' check (length(name) <= 100);
