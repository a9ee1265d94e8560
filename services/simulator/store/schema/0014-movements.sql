-- The account's balance: every movement with the processor's fee, and payouts of it to the bank. Amounts are minor units.
create table payouts (
  id text primary key,
  seq bigint generated always as identity,
  account text not null,
  currency text not null,
  amount bigint not null check (amount > 0),
  status text not null check (status in ('pending', 'in_transit', 'paid', 'failed', 'returned')),
  failure_message text,
  created_at timestamptz not null,
  arrives_at timestamptz not null,
  -- when its status changes by itself; null: never
  moves_at timestamptz,
  check (moves_at is null or status in ('pending', 'in_transit')),
  check ((status in ('failed', 'returned')) = (failure_message is not null))
);
create index payouts_of_account on payouts (account, created_at, seq);
create index payouts_moving on payouts (moves_at) where moves_at is not null;

create table movements (
  id text primary key,
  seq bigint generated always as identity,
  account text not null,
  -- null: of no payment
  intent_id text references intents (id),
  type text not null,
  -- effect on the balance before the fee
  amount bigint not null,
  fee bigint not null check (fee >= 0),
  currency text not null,
  -- the refund, dispute or payout
  object_id text,
  created_at timestamptz not null,
  -- when it can be paid out
  available_at timestamptz not null,
  -- the payout that contains it; the payout's own movement is in none
  payout_id text references payouts (id),
  check (available_at >= created_at),
  check (type <> 'payout' or payout_id is null),
  constraint movements_direction check (case
    when type in ('capture', 'refund_failure', 'dispute_reversal', 'payout_failure', 'release', 'adjustment') then amount > 0
    when type in ('refund', 'dispute', 'payout', 'reserve', 'processor_fee') then amount < 0
    else false end)
);
create index movements_of_account on movements (account, created_at, seq);
create index movements_unpaid on movements (available_at) where payout_id is null and type <> 'payout';
create index movements_of_payout on movements (payout_id, created_at, seq) where payout_id is not null;

create function payout_is_whole() returns trigger language plpgsql as $$
declare
  lines bigint;
  taken bigint;
begin
  select sum(amount - fee) into lines from movements where payout_id = new.id;
  select -sum(amount) into taken from movements
    where account = new.account and created_at = new.created_at and type = 'payout' and object_id = new.id;
  if (lines, taken) is distinct from (new.amount, new.amount) then
    raise exception 'payout % has %, its movements %, the balance lost %', new.id, new.amount, lines, taken
      using errcode = 'check_violation';
  end if;
  return null;
end $$;
create constraint trigger payout_is_whole after insert on payouts for each row execute function payout_is_whole();

-- What earlier releases moved, with its fees.
insert into movements (id, account, intent_id, type, amount, fee, currency, created_at, available_at)
  select 'txn_' || id, account, id, 'capture', captured_amount, round(captured_amount * 0.014) + 25, currency,
    coalesce(paid_at, created_at), coalesce(paid_at, created_at)
  from intents where captured_amount > 0;
insert into movements (id, account, intent_id, type, amount, fee, currency, object_id, created_at, available_at)
  select 'txn_' || r.id, r.account, r.intent_id, 'refund', -r.amount, 0, i.currency, r.id, r.created_at, r.created_at
  from refunds r join intents i on i.id = r.intent_id where r.status in ('pending', 'succeeded')
  union all
  select 'txn_' || d.id, d.account, d.intent_id, 'dispute', -d.amount, 1500, i.currency, d.id, d.opened_at, d.opened_at
  from disputes d join intents i on i.id = d.intent_id where d.status in ('needs_response', 'under_review', 'lost');
