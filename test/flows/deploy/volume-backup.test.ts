// Backup and restore scripts of components/backups-volume against a real server. proofs/restore restores a whole stack.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { withDatabase } from "../../../deploy/local/databases.ts";
import {
  cronJobSettings,
  type InstalledServer,
  missingPostgres,
  runBackupScript,
  startInstalledPostgres,
} from "../../harness/servers/volume-backup.ts";
import { suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";

const suited = suite("backups to a volume", { timeoutMs: 60_000 });
const test = (guarantee: string, body: () => Promise<void>) =>
  missingPostgres === undefined ? suited(guarantee, body) : suited.skip(guarantee, missingPostgres);
const password = "superuser's password";
const names = ["checkout", "payments", "merchant", "webhook"].map((service) => `tollbooth_${service}`);
let server: InstalledServer;
let volume: { folder: string; passwordFile: string };

suited.before(async () => {
  server = await startInstalledPostgres(password);
  const folder = await tempDir("backups");
  mkdirSync(join(folder, "volume"));
  volume = { folder: join(folder, "volume"), passwordFile: join(folder, "password") };
  writeFileSync(volume.passwordFile, password);
  await query("postgres", "create role payments_service login");
  for (const name of names) {
    await query("postgres", `create database ${name}`);
    await query(name, "create table rows (id int primary key); insert into rows select generate_series(1, 3)");
    await query(name, "grant select on rows to payments_service");
  }
});
suited.after(async () => {
  await server?.stop();
  if (volume) rmSync(join(volume.folder, ".."), { recursive: true });
});

async function query(database: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: withDatabase(server.url, database) });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const kept = () => readdirSync(volume.folder).sort();
/** The server is empty, but for the databases and roles that a new one begins with. */
async function emptyServer(): Promise<void> {
  for (const name of names) {
    await query("postgres", `drop database ${name}`);
    await query("postgres", `create database ${name}`);
  }
}

test("a backup is complete or has no name, and those older than KEEP_DAYS are removed after it", async () => {
  const days = Number(cronJobSettings().KEEP_DAYS);
  const killed = "2026-01-03T023000Z.part";
  const ages = { "2026-01-01T023000Z": days + 2, "2026-01-02T023000Z": days - 1, [killed]: 1 };
  for (const [name, age] of Object.entries(ages)) {
    mkdirSync(join(volume.folder, name));
    utimesSync(join(volume.folder, name), new Date(), new Date(Date.now() - age * 86_400_000));
  }
  const { code, output } = await runBackupScript("backup", server, volume);
  assert.equal(code, 0, output);
  const [young = "", made = "", ...others] = kept();
  assert.deepEqual([young, others], ["2026-01-02T023000Z", []]);
  assert.match(output, new RegExp(`^backup complete: ${made}; kept:`, "m"));
  assert.deepEqual(readdirSync(join(volume.folder, made)).sort(), [
    "SHA256SUMS",
    ...names.map((name) => `${name}.dump`).sort(),
  ]);
  for (const path of ["", "SHA256SUMS", "tollbooth_payments.dump"])
    assert.equal(statSync(join(volume.folder, made, path)).mode & 0o077, 0, `others may not read ${path}`);
  assert.ok(!output.includes(password));
});

test("a backup fails with the reason, and removes none, when a database is missing or the server refuses", async () => {
  const before = kept();
  await query("postgres", "alter database tollbooth_webhook rename to elsewhere");
  const missing = await runBackupScript("backup", server, volume);
  await query("postgres", "alter database elsewhere rename to tollbooth_webhook");
  assert.notEqual(missing.code, 0);
  assert.match(missing.output, /backup failed: there is no database tollbooth_webhook/);
  const refused = await runBackupScript("backup", { port: 1 }, volume);
  assert.notEqual(refused.code, 0);
  assert.deepEqual(kept(), before);
});

test("the newest backup restores every row and right into an empty server, and no server with tables", async () => {
  const refused = await runBackupScript("restore", server, volume);
  assert.notEqual(refused.code, 0);
  assert.match(refused.output, /restore refused: tollbooth_checkout is not empty/);
  await emptyServer();
  const { code, output } = await runBackupScript("restore", server, volume);
  assert.equal(code, 0, output);
  for (const name of names) {
    assert.deepEqual(await query(name, "select id from rows order by id"), [{ id: 1 }, { id: 2 }, { id: 3 }]);
    const [right] = await query(name, "select has_table_privilege('payments_service', 'rows', 'select') as held");
    assert.deepEqual(right, { held: true });
  }
});

test("a named backup with a changed byte is refused before anything is restored", async () => {
  const newest =
    kept()
      .filter((name) => name.endsWith("Z"))
      .at(-1) ?? "";
  const dump = join(volume.folder, newest, "tollbooth_webhook.dump");
  const bytes = readFileSync(dump);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(dump, bytes);
  await emptyServer();
  const { code, output } = await runBackupScript("restore", server, { ...volume, BACKUP: newest });
  assert.notEqual(code, 0);
  assert.match(output, /tollbooth_webhook\.dump: FAILED/);
  const tables = "select count(*)::int as n from pg_class where relnamespace = 'public'::regnamespace";
  for (const name of names) assert.deepEqual(await query(name, tables), [{ n: 0 }], name);
});

suited.run();
