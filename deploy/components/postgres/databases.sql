create database tollbooth_checkout;
create database tollbooth_payments;
create database tollbooth_merchant;
create database tollbooth_webhook;
create database tollbooth_simulator;
