-- An authenticator app that takes another's place opens nothing before it has shown a code, and the former one goes on until then.
alter table authenticators
  alter column secret drop not null,
  add column pending bytea,
  add constraint authenticators_confirmed check ((secret is null) = (confirmed_at is null));

-- When a person was last seen in a console, to the minute; null: never.
alter table persons add column last_seen_at timestamptz;

-- Who is or was a member where: whom logs there may name.
create table known_people (
  merchant_id text collate "C" not null,
  person_id text collate "C" not null references persons,
  primary key (merchant_id, person_id)
);
insert into known_people select merchant_id, person_id from memberships;
