-- Hits of a part of an e-mail are narrowed by currency, connector and time of capture without a look at their rows, as those of an order
-- number or of four last digits are (0015): four digits mean all three, and the rows of some hundred e-mails lie anywhere on the disk.
set local maintenance_work_mem = '256MB';

drop index payments_of_email;
create index payments_of_email on payments (merchant_id, environment, customer_email, created_at desc, id desc)
  include (status, amount, currency, connector, captured_at) where visible and customer_email <> '';
