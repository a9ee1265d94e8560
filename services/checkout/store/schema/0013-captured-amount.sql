-- What was captured of a session's payment, and which of the payment's versions said so. A release that does not know these columns moves
-- heard_version alone: the amount is then of an older version, and is not shown.
alter table sessions
  add column captured_amount bigint check (captured_amount >= 0),
  add column captured_version bigint;
