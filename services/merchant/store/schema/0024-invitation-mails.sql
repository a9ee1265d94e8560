-- How many invitations of a merchant, or of the installation, went out by mail within a day.
create index mails_of_invitations on mails (merchant_id, created_at) where kind = 'invitation';
