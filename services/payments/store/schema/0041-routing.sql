-- Why a payment is at its account: the position of the routing rule that matched, from 1, and the reason. Null: an earlier release.
alter table payments
  add column routing_rule smallint check (routing_rule > 0),
  add column routing_reason text check (routing_reason in ('primary', 'rule', 'session', 'outage')),
  add constraint payments_rule_has_reason check (routing_rule is null or routing_reason is not null);
