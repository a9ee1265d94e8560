-- Why a payment is at its account: the position of the routing rule that matched, from 1, and the reason. Null: an earlier release.
alter table payments
  add column routing_rule smallint check (routing_rule > 0),
  add column routing_reason text check (routing_reason in ('primary', 'rule', 'session', 'outage', 'decline')),
  add constraint payments_rule_has_reason check (routing_rule is null or routing_reason is not null);

-- After a decline the payment may move to another account, once: reroute_to is that account while the declined intent is being ended, the
-- former_… columns are the ended intent. An intent is one or the other, so a late report of the former is never taken as the payment's own.
alter table payments
  add column reroute_to jsonb,
  add column former_connector text,
  add column former_account_id text,
  add column former_ref text,
  add constraint payments_former_is_whole check (num_nulls(former_connector, former_account_id, former_ref) in (0, 3)),
  add constraint payments_moves_once check (reroute_to is null or former_ref is null),
  add constraint payments_former_is_another check (former_ref is null
    or (connector_account_id <> former_account_id and (connector, connector_ref) is distinct from (former_connector, former_ref)));
create unique index payments_former_intent on payments (former_connector, former_ref) where former_ref is not null;

-- The account that an attempt went to. Null: the payment's.
alter table attempts add column connector_account_id text;
