-- What a session sells, line by line: [{"name", "quantity", "amount"}], amounts of whole lines in minor units, negative for a discount.
-- None: the merchant does not say, as every session of the release before, which writes none.
create function line_items_fit(lines jsonb, total bigint) returns boolean language sql immutable parallel safe as $$
  select jsonb_typeof(lines) = 'array' and jsonb_array_length(lines) between 1 and 100 and (
    select bool_and(
        jsonb_typeof(line) = 'object'
        and jsonb_typeof(line -> 'name') = 'string' and length(line ->> 'name') between 1 and 200
        and jsonb_typeof(line -> 'quantity') = 'number' and (line ->> 'quantity')::numeric between 1 and 9999
        and jsonb_typeof(line -> 'amount') = 'number')
      and sum((line ->> 'amount')::numeric) = total
    from jsonb_array_elements(lines) as line)
$$;
alter table sessions add column line_items jsonb not null default '[]';
-- New rows alone are looked at: those that are there have none.
alter table sessions add constraint sessions_line_items_fit
  check (line_items = '[]' or coalesce(line_items_fit(line_items, amount), false)) not valid;
