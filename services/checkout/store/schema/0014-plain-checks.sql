-- Rules of tables as checks that \d shows, in place of functions that hold them. They hold already; the next file reads the rows without
-- keeping writers out.

alter table sessions
  add constraint sessions_id_check check (id ~ '^cs_[0-7][0-9a-hjkmnp-tv-z]{25}$') not valid,
  add constraint sessions_environment_check check (environment in (1, 2)) not valid,
  add constraint sessions_status_check check (status in ('open', 'processing', 'completed', 'expired', 'canceled')) not valid,
  add constraint sessions_amount_check check (amount between 1 and 99999999) not valid,
  add constraint sessions_currency_check check (currency ~ '^[A-Z]{3}$') not valid,
  add constraint sessions_description_check check (length(description) <= 255) not valid,
  add constraint sessions_order_reference_check check (length(order_reference) <= 100) not valid,
  add constraint sessions_customer_email_check check (length(customer_email) <= 254) not valid,
  add constraint sessions_email_turn_check check (email_turn >= 0) not valid,
  add constraint sessions_capture_method_check check (capture_method in ('automatic', 'manual')) not valid,
  add constraint sessions_surface_check check (surface in ('embedded', 'hosted', 'redirect')) not valid,
  add constraint sessions_secret_hash_check check (octet_length(secret_hash) = 32) not valid,
  add constraint sessions_failed_attempts_check check (failed_attempts >= 0) not valid,
  add constraint sessions_expires_after_creation check (expires_at > created_at) not valid,
  add constraint sessions_completed_has_time check ((status = 'completed') = (completed_at is not null)) not valid,
  add constraint sessions_completed_has_payment check (status <> 'completed' or payment_status <> '') not valid,
  add constraint sessions_open_is_checked check ((status in ('open', 'processing')) = (next_check_at is not null)) not valid,
  add constraint sessions_open_has_render check ((status in ('open', 'processing')) = (render is not null)) not valid,
  add constraint sessions_line_items_fit check (line_items = '[]' or coalesce(line_items_fit(line_items, amount), false)) not valid,
  drop constraint sessions_rules_hold;

drop function session_rules_hold;
