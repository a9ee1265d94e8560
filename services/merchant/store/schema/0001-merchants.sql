-- Merchants and what belongs to them. Environments: 1 sandbox, 2 live (merchant.v1.Environment).
create table merchants (
  id text primary key check (id ~ '^mer_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  name text not null check (length(name) between 1 and 100),
  legal_name text not null default '' check (length(legal_name) <= 200),
  status text not null check (status in ('pending', 'active', 'suspended', 'closed')),
  country text not null check (country ~ '^[A-Z]{2}$'),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  email text not null check (length(email) between 3 and 254),
  phone text not null default '' check (phone ~ '^(\+[1-9][0-9]{6,14})?$'),
  website text not null default '' check (website = '' or website ~ '^https://'),
  refunds_enabled boolean not null default true,
  created_at timestamptz not null default now()
);

-- What the checkout page looks like (CONTRACT.md §8). Empty: not set.
create table brandings (
  merchant_id text primary key references merchants,
  display_name text not null check (length(display_name) <= 100),
  tagline text not null check (length(tagline) <= 140),
  logo_url text not null check (logo_url = '' or (logo_url ~ '^https://' and length(logo_url) <= 2048)),
  accent_color text not null check (accent_color ~ '^(#[0-9a-f]{6})?$'),
  secondary_color text not null check (secondary_color ~ '^(#[0-9a-f]{6})?$'),
  support_email text not null check (length(support_email) <= 254),
  button_style text not null check (button_style in ('rounded', 'pill', 'rectangular')),
  background_style text not null check (background_style in ('subtle', 'plain', 'gradient', 'solid')),
  theme text not null check (theme in ('light', 'dark', 'auto')),
  font_family text not null check (font_family in ('inter', 'system', 'roboto', 'open_sans', 'lato', 'montserrat', 'nunito',
    'source_sans_pro', 'noto_sans', 'noto_serif'))
);

-- Accounts at card processors. `credentials` is ciphertext. A merchant has at most one primary account per environment.
create table connectors (
  id text primary key check (id ~ '^mco_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text not null references merchants,
  environment smallint not null check (environment in (1, 2)),
  connector text not null check (connector ~ '^[a-z][a-z0-9_]{0,31}$'),
  is_primary boolean not null,
  is_active boolean not null,
  can_be_primary boolean not null,
  allowed_surfaces text[] not null
    check (cardinality(allowed_surfaces) > 0 and allowed_surfaces <@ array['embedded', 'hosted', 'redirect']),
  default_surface text not null check (default_surface = any (allowed_surfaces)),
  selected_surface text check (selected_surface = any (allowed_surfaces)),
  external_account_id text not null check (length(external_account_id) between 1 and 128),
  credentials bytea not null,
  created_at timestamptz not null default now(),
  unique (connector, external_account_id),
  check (can_be_primary or not is_primary)
);
create unique index connectors_one_primary on connectors (merchant_id, environment) where is_primary;
create index connectors_of_merchant on connectors (merchant_id, environment);

-- API keys. The raw key is nowhere: `hash` is its HMAC under the service's hash key. The status follows from the times.
create table api_keys (
  id text primary key check (id ~ '^ak_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text not null references merchants,
  environment smallint not null check (environment in (1, 2)),
  name text not null check (length(name) between 1 and 100),
  suffix text not null check (length(suffix) = 4),
  scopes text[] not null check (cardinality(scopes) > 0
    and scopes <@ array['payments:read', 'payments:write', 'merchant:read', 'merchant:write']),
  hash bytea not null unique check (octet_length(hash) = 32),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index api_keys_of_merchant on api_keys (merchant_id, environment, id desc);

-- Onboarding applications. A draft may leave any field empty; from `submitted` on all are there.
create table applications (
  id text primary key check (id ~ '^ma_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  status text not null check (status in ('draft', 'submitted', 'approved', 'rejected')),
  applicant_email text not null check (length(applicant_email) <= 254),
  legal_name text not null check (length(legal_name) <= 200),
  trading_name text not null check (length(trading_name) <= 100),
  country_code text not null check (country_code ~ '^([A-Z]{2})?$'),
  currency_code text not null check (currency_code ~ '^([A-Z]{3})?$'),
  merchant_id text unique references merchants,
  created_at timestamptz not null default now(),
  check ((status = 'approved') = (merchant_id is not null)),
  check (status = 'draft' or '' not in (applicant_email, legal_name, trading_name, country_code, currency_code))
);
create index applications_by_status on applications (status, id desc);
