-- Who did what to a payment: refunds, captures and answers to disputes are acts on objects of their own, which name it.
create index audit_entries_of_payment on audit_entries ((details ->> 'payment_id'), id) where details ->> 'payment_id' is not null;
