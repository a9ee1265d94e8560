-- Refunds of one status: the failed ones among millions (docs/contract.md §5).
create index refunds_by_status on refunds (merchant_id, environment, status, created_at desc, id desc);
