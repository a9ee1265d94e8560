-- Profile and branding have a copy for each environment (CONTRACT.md §8), so that live buyers see nothing that a sandbox key changed. The
-- live copy stays in merchants and brandings, where the release before this one reads and writes; the sandbox's stands beside it and
-- begins with the same values.
create table sandbox_profiles (
  merchant_id text primary key references merchants,
  name text not null check (length(name) between 1 and 100),
  legal_name text not null check (length(legal_name) <= 200),
  email text not null check (length(email) between 3 and 254),
  phone text not null check (phone ~ '^(\+[1-9][0-9]{6,14})?$'),
  website text not null check (website = '' or website ~ '^https://')
);
create table sandbox_brandings (like brandings including all, foreign key (merchant_id) references merchants);

-- The copies begin here and not in the service, so that a merchant that the release before this one adds has both.
create function begin_sandbox_profile() returns trigger language plpgsql as $$
begin
  insert into sandbox_profiles (merchant_id, name, legal_name, email, phone, website)
    values (new.id, new.name, new.legal_name, new.email, new.phone, new.website);
  return null;
end $$;
create trigger merchants_begin_sandbox_profile after insert on merchants
  for each row execute function begin_sandbox_profile();

create function begin_sandbox_branding() returns trigger language plpgsql as $$
begin
  insert into sandbox_brandings values (new.*);
  return null;
end $$;
create trigger brandings_begin_sandbox_branding after insert on brandings
  for each row execute function begin_sandbox_branding();

-- To the release before this one there is one copy: what it changes, changes in both. A service that knows both says so in its
-- transaction. These two triggers can go once that release can no longer run.
create function follow_in_sandbox_profile() returns trigger language plpgsql as $$
begin
  update sandbox_profiles s set
    name = coalesce(nullif(new.name, old.name), s.name),
    legal_name = coalesce(nullif(new.legal_name, old.legal_name), s.legal_name),
    email = coalesce(nullif(new.email, old.email), s.email),
    phone = coalesce(nullif(new.phone, old.phone), s.phone),
    website = coalesce(nullif(new.website, old.website), s.website)
  where s.merchant_id = new.id;
  return null;
end $$;
create trigger merchants_follow_in_sandbox_profile after update of name, legal_name, email, phone, website on merchants
  for each row when (current_setting('tollbooth.knows_both_copies', true) is distinct from 'on')
  execute function follow_in_sandbox_profile();

create function follow_in_sandbox_branding() returns trigger language plpgsql as $$
begin
  update sandbox_brandings s set
    display_name = coalesce(nullif(new.display_name, old.display_name), s.display_name),
    tagline = coalesce(nullif(new.tagline, old.tagline), s.tagline),
    logo_url = coalesce(nullif(new.logo_url, old.logo_url), s.logo_url),
    accent_color = coalesce(nullif(new.accent_color, old.accent_color), s.accent_color),
    secondary_color = coalesce(nullif(new.secondary_color, old.secondary_color), s.secondary_color),
    support_email = coalesce(nullif(new.support_email, old.support_email), s.support_email),
    button_style = coalesce(nullif(new.button_style, old.button_style), s.button_style),
    background_style = coalesce(nullif(new.background_style, old.background_style), s.background_style),
    theme = coalesce(nullif(new.theme, old.theme), s.theme),
    font_family = coalesce(nullif(new.font_family, old.font_family), s.font_family)
  where s.merchant_id = new.merchant_id;
  return null;
end $$;
create trigger brandings_follow_in_sandbox_branding after update on brandings
  for each row when (current_setting('tollbooth.knows_both_copies', true) is distinct from 'on')
  execute function follow_in_sandbox_branding();

-- Nobody adds or changes a merchant meanwhile: the locks of the triggers hold until the commit.
insert into sandbox_profiles (merchant_id, name, legal_name, email, phone, website)
  select id, name, legal_name, email, phone, website from merchants;
insert into sandbox_brandings select * from brandings;
