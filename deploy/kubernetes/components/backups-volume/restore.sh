# Restores a backup of backup.sh into an empty server (deploy/runbooks/restore-small.md), whose databases and roles exist.
# Each database is restored in one transaction.
set -eu
export PGPASSWORD="$(cat "$PASSWORD_FILE")"
if [ "$BACKUP" = newest ]; then BACKUP=$(ls "$BACKUPS" | grep '^20.*Z$' | tail -n 1); fi
cd "$BACKUPS/$BACKUP"
sha256sum -c SHA256SUMS
for dump in *.dump; do
  tables=$(psql -XAt -d "${dump%.dump}" -c "select count(*) from pg_class where relnamespace = 'public'::regnamespace")
  [ "$tables" = 0 ] || { echo "restore refused: ${dump%.dump} is not empty" >&2; exit 1; }
done
for dump in *.dump; do
  pg_restore --exit-on-error --single-transaction --dbname "${dump%.dump}" "$dump"
  psql -Xq -d "${dump%.dump}" -c analyze
done
echo "restore complete: $BACKUP"
