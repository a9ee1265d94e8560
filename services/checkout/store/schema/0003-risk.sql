-- Risk screening as data: the rules, what was tried by whom, and what was decided.
create table risk_rules (
  id text primary key check (id ~ '^rr_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  -- '*' stands for every merchant.
  merchant_id text not null,
  -- 0: both.
  environment smallint not null check (environment in (0, 1, 2)),
  kind text not null check (kind in ('amount_cap', 'velocity', 'block_list', 'card_testing')),
  subject text not null,
  limit_value bigint not null default 0 check (limit_value between 0 and 99999999),
  window_seconds integer not null default 0 check (window_seconds between 0 and 604800),
  entries text[] not null default '{}' check (cardinality(entries) <= 1000),
  enabled boolean not null default true,
  -- Empty: it came with the installation.
  operator text not null default '',
  note text not null default '',
  updated_at timestamptz not null default now(),
  unique (merchant_id, environment, kind, subject),
  check ((kind in ('velocity', 'card_testing')) = (window_seconds > 0)),
  check (kind = 'block_list' or cardinality(entries) = 0),
  check (case kind
    when 'amount_cap' then subject ~ '^[A-Z]{3}$'
    when 'velocity' then subject in ('email', 'address', 'card_fingerprint')
    when 'block_list' then subject in ('email', 'domain', 'address', 'card_fingerprint')
    else subject = 'address' end)
);
insert into risk_rules (id, merchant_id, environment, kind, subject, limit_value, window_seconds, entries, note) values
  ('rr_00000000000000000000000001', '*', 2, 'velocity', 'email', 20, 600, '{}',
    'A buyer starts over a few times; card testers start hundreds of times.'),
  ('rr_00000000000000000000000002', '*', 1, 'velocity', 'email', 500, 600, '{}',
    'A test suite uses one address for everything, yet the rule must be possible to see at work.'),
  ('rr_00000000000000000000000003', '*', 1, 'block_list', 'email', 0, 0, '{blocked@example.com}',
    'For merchants who test how their shop takes a refusal.'),
  ('rr_00000000000000000000000004', '*', 2, 'velocity', 'address', 60, 600, '{}',
    'An office or a campus shares an address; a script opens a session a second.'),
  ('rr_00000000000000000000000005', '*', 2, 'velocity', 'card_fingerprint', 20, 3600, '{}',
    'Nobody pays one shop twenty times an hour with one card.'),
  ('rr_00000000000000000000000006', '*', 2, 'card_testing', 'address', 10, 600, '{}',
    'Ten declines in ten minutes from one address are somebody trying cards.'),
  ('rr_00000000000000000000000007', '*', 1, 'card_testing', 'address', 500, 600, '{}',
    'Test suites decline a lot.');

-- What buyers tried, for counting. The address is a keyed hash of its network; it is not kept in the clear.
create table risk_attempts (
  session_id text not null,
  merchant_id text not null,
  environment smallint not null,
  fact text not null check (fact in ('opened', 'declined', 'paid')),
  -- Tells repeats apart: the address for `opened`, the number of the decline for `declined`.
  occurrence text not null,
  email text not null default '',
  address_hash bytea,
  card_fingerprint text not null default '',
  at timestamptz not null default now(),
  primary key (session_id, fact, occurrence)
);
create index risk_attempts_by_address on risk_attempts (merchant_id, environment, address_hash, fact, at)
  where address_hash is not null;
create index risk_attempts_by_card on risk_attempts (merchant_id, environment, card_fingerprint, at)
  where card_fingerprint <> '';
create index risk_attempts_by_email on risk_attempts (merchant_id, environment, email, at)
  where email <> '' and card_fingerprint <> '';
create index risk_attempts_at on risk_attempts (at);

create table risk_decisions (
  id bigint generated always as identity primary key,
  session_id text not null,
  merchant_id text not null,
  environment smallint not null,
  stage text not null check (stage in ('create', 'open', 'attempt')),
  blocked boolean not null,
  -- Which rules were looked at, with what numbers (rules/risk.ts, Look).
  looks jsonb not null,
  decided_at timestamptz not null default now()
);
create index risk_decisions_of_session on risk_decisions (session_id);
create index risk_decisions_blocked on risk_decisions (merchant_id, environment, id desc) where blocked;
create index risk_decisions_at on risk_decisions (decided_at);
