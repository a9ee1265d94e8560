-- Apart from 0027, whose locks would keep everyone out while all rows are read.
alter table payments validate constraint payments_rules_hold;
alter table operations validate constraint operations_rules_hold;
alter table journal validate constraint journal_rules_hold;
