-- Apart from 0011, whose lock would keep everyone out while all rows are read.
alter table sessions validate constraint sessions_rules_hold;
