-- Uploaded logos, served by the gateway under /logos/{id}. A replaced one is deleted by a later upload.
create table logos (
  id uuid primary key default gen_random_uuid(),
  merchant_id text collate "C" not null references merchants,
  type text not null check (type in ('image/png', 'image/jpeg', 'image/webp')),
  content bytea not null check (octet_length(content) between 1 and 524288),
  created_at timestamptz not null default now()
);
create index logos_by_merchant on logos (merchant_id);

-- On a developer's machine a logo's address is http.
create function is_logo_url(url text) returns boolean immutable language sql as $$
  select url = '' or (length(url) <= 2048 and url ~ '^(https://|http://(localhost|127\.0\.0\.1)(:[0-9]+)?/logos/)')
$$;
alter table brandings drop constraint brandings_logo_url_check,
  add constraint brandings_logo_url_check check (is_logo_url(logo_url)) not valid;
alter table sandbox_brandings drop constraint brandings_logo_url_check,
  add constraint brandings_logo_url_check check (is_logo_url(logo_url)) not valid;
