-- A new merchant has no fee until an operator sets one. The schedule of every merchant that came with the installation is taken away; each
-- merchant who has payments gets it as their own, so that what they pay, and have paid, is the same. An operator who has set schedules for
-- every merchant has decided: nothing changes there.
alter table fee_schedules disable trigger fee_history_is_fixed;
with came as (
  select * from fee_schedules f
  where (f.merchant_id, f.currency, f.connector, f.effective_from, f.operator) = ('*', '*', '*', '2000-01-01', '')
    and not exists (select from fee_schedules o where o.merchant_id = '*'
      and (o.currency, o.connector, o.effective_from) <> (f.currency, f.connector, f.effective_from))),
kept as (
  insert into fee_schedules (merchant_id, currency, connector, effective_from, basis_points, fixed_amount, operator, note)
  select p.merchant_id, c.currency, c.connector, c.effective_from, c.basis_points, c.fixed_amount, '',
    'As it was for every merchant before.'
  from came c, (select distinct merchant_id from payments) p)
delete from fee_schedules f using came c where f.merchant_id = '*' and f.currency = c.currency and f.connector = c.connector
  and f.effective_from = c.effective_from;
alter table fee_schedules enable trigger fee_history_is_fixed;
