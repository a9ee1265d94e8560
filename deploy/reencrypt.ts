// `npm run reencrypt`: seals a service's secrets again under the first of its encryption keys. Run it for each service when all of its
// replicas have the new key first in ENCRYPTION_KEYS; when it has ended, older keys can be removed. Safe to repeat and to interrupt.
// Settings: SERVICE (checkout, payments, merchant or webhook), DATABASE_URL, ENCRYPTION_KEYS, KMS and
// what belongs to it.
import { ConfigError, keyManagementSettings, oneOf, readConfig, serviceSettings } from "#platform/config.ts";
import { Database } from "#platform/database.ts";
import { EncryptionCount } from "#platform/encryption-count.ts";
import { createLog } from "#platform/log.ts";
import { checkSchema } from "#platform/migrate.ts";
import { withOpenKeys } from "#platform/open-keys.ts";
import { reencryptColumn } from "#platform/reencrypt.ts";
import { Vault } from "#platform/secret.ts";
import { sealedColumns } from "./sealed-columns.ts";

try {
  const config = readConfig({
    ...keyManagementSettings,
    SERVICE: oneOf("checkout", "payments", "merchant", "webhook"),
    DATABASE_URL: serviceSettings.DATABASE_URL,
    ENCRYPTION_KEYS: serviceSettings.ENCRYPTION_KEYS,
  });
  const { SERVICE, DATABASE_URL, ENCRYPTION_KEYS } = await withOpenKeys(config);
  const db = await Database.open({ url: DATABASE_URL, name: "reencrypt", log: createLog("reencrypt", "error") });
  try {
    await checkSchema(db, SERVICE);
    const vault = new Vault(ENCRYPTION_KEYS, await EncryptionCount.begin(db, ENCRYPTION_KEYS));
    for (const sealed of sealedColumns[SERVICE]) {
      const changed = await reencryptColumn(db, vault, sealed);
      console.log(`${sealed.table}.${sealed.column}: ${changed} values sealed again under key ${vault.currentKeyId}`);
    }
  } finally {
    await db.close();
  }
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exitCode = 1;
}
