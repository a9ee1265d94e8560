# Dumps every database of the installation into a new folder of the volume, then removes folders older than KEEP_DAYS. A
# folder has its final name only when it is complete and its files are readable, so a failed run leaves the old backups.
set -eu
umask 077
export PGPASSWORD="$(cat "$PASSWORD_FILE")"
backup="$BACKUPS/$(date -u +%Y-%m-%dT%H%M%SZ)"
# Of killed runs: a run takes two hours at most.
find "$BACKUPS" -mindepth 1 -maxdepth 1 -name '*.part' -mmin +180 -exec rm -rf {} +
mkdir "$backup.part"
trap 'rm -rf "$backup.part"' EXIT
databases=$(psql -XAt -d postgres -c "select datname from pg_database where datname like 'tollbooth\\_%' order by 1")
for service in checkout payments merchant webhook; do
  echo "$databases" | grep -qx "tollbooth_$service" || { echo "backup failed: there is no database tollbooth_$service" >&2; exit 1; }
done
for database in $databases; do
  pg_dump -Fc --file "$backup.part/$database.dump" "$database"
  pg_restore --list "$backup.part/$database.dump" > /dev/null
done
(cd "$backup.part" && sha256sum -- *.dump > SHA256SUMS)
sync
mv "$backup.part" "$backup"
find "$BACKUPS" -mindepth 1 -maxdepth 1 -type d -name '20*Z' -mtime +"$KEEP_DAYS" -exec rm -rf {} +
echo "backup complete: $(basename "$backup"); kept:"
du -sh "$BACKUPS"/20*Z
