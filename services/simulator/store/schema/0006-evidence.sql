-- What a merchant answers to a dispute. The bytes of files are not kept: nobody here reads them.
alter table disputes
  -- The caller's name for what it sent last, and that itself.
  add column evidence_reference text,
  add column evidence jsonb,
  add column evidence_at timestamptz,
  add constraint disputes_evidence_check check ((evidence is null) = (evidence_at is null));

create table files (
  id text primary key,
  account text not null,
  type text not null,
  size integer not null check (size > 0),
  sha256 text not null,
  created_at timestamptz not null
);

alter table delayed_facts drop constraint delayed_facts_kind_check;
alter table delayed_facts add constraint delayed_facts_kind_check
  check (kind in ('open_dispute', 'fail_refund', 'settle_attempt', 'lapse_authorization', 'decide_dispute'));
