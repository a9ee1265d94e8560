-- Operators find a merchant by a part of its name, legal name or e-mail, in any case.
create extension if not exists pg_trgm;
create index merchants_by_text on merchants using gin (lower(name || ' ' || legal_name || ' ' || email) gin_trgm_ops);
