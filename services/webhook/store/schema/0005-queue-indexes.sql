-- A delivery is looked up by its key and by nothing else. The planner knows little about a queue that is empty most of the time, and
-- took the lane's index for it, which has the key's columns too: each recorded attempt read its lane from the start. So the other
-- indexes are partial, by rules that every row meets and only the statements that want them say.
create index delivery_queue_due on delivery_queue (merchant_id, endpoint_id, due_at, id) where due_at > '-infinity';
drop index delivery_queue_lane;
create index delivery_queue_of_payment on delivery_queue (merchant_id, payment_id) where payment_id is not null;
drop index delivery_queue_payment;

-- Half of each page stays free for the second versions of its rows: one claim takes many rows that arrived together and so lie in one
-- page, and only where there is room for all of them it touches no index (HOT). Pages that are full already stay as they are.
alter table delivery_queue set (fillfactor = 50);
