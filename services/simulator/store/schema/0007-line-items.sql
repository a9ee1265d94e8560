-- What is bought, for the receipt: [{"name", "quantity", "amount"}]; null: the caller does not say.
alter table intents add column line_items jsonb;
