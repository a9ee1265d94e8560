-- A processor may use one account id for its test and its live mode, as Stripe does: an account is one of an environment.
alter table connectors drop constraint connectors_connector_external_account_id_key;
alter table connectors add constraint connectors_connector_environment_external_account_id_key
  unique (connector, environment, external_account_id);
