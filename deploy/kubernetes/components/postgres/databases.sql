-- Run once, on an empty server. The superuser makes the tables and owns them (migrate); services log in as roles that own nothing.
create database tollbooth_checkout;
create database tollbooth_payments;
create database tollbooth_merchant;
create database tollbooth_webhook;
create database tollbooth_simulator;
\set checkout `cat "$ROLES_FOLDER/postgres-checkout-service/password"`
\set payments `cat "$ROLES_FOLDER/postgres-payments-service/password"`
\set merchant `cat "$ROLES_FOLDER/postgres-merchant-service/password"`
\set webhook `cat "$ROLES_FOLDER/postgres-webhook-service/password"`
create role checkout_service login password :'checkout';
create role payments_service login password :'payments';
create role merchant_service login password :'merchant';
create role webhook_service login password :'webhook';
