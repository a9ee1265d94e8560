-- Payment links that went by mail are counted by merchant and hour.
create index mails_payment_links on mails (merchant_id, created_at) where kind = 'payment_link';
