// `tollbooth reencrypt`: encrypts a service's secrets with the first of its encryption keys. Run it for each service
// when all replicas have the new key first in ENCRYPTION_KEYS; older keys can be removed afterwards.
import { Database } from "#platform/database/database.ts";
import { checkSchema } from "#platform/database/schema-state.ts";
import { oneOf, readConfig } from "#platform/process/config.ts";
import { keyManagementSettings, withOpenKeys } from "#platform/secrets/open-keys.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { serviceSettings } from "#platform/service/settings.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { sealedColumns, sources } from "../../../services/services.ts";
import type { Commands, Row } from "../command.ts";
import { reencryptColumn } from "./reencrypt-column.ts";

const settings = {
  ...keyManagementSettings,
  SERVICE: oneOf(...sources),
  DATABASE_URL: serviceSettings.DATABASE_URL,
  ENCRYPTION_KEYS: serviceSettings.ENCRYPTION_KEYS,
};

export const reencrypt: Commands = {
  "": {
    about:
      "encrypts a service's secrets with the first of its encryption keys (SERVICE, DATABASE_URL, ENCRYPTION_KEYS, KMS and its settings); safe to repeat and to interrupt",
    isAlone: true,
    run: async () => {
      const { SERVICE, DATABASE_URL, ENCRYPTION_KEYS } = await withOpenKeys(readConfig(settings));
      const db = await Database.open({ url: DATABASE_URL, name: "reencrypt", log: createLog("reencrypt", "error") });
      try {
        await checkSchema(db, SERVICE);
        const vault = new Vault(ENCRYPTION_KEYS);
        const rows: Row[] = [];
        for (const sealed of sealedColumns[SERVICE]) {
          const values = await reencryptColumn(db, vault, sealed);
          rows.push({ column: `${sealed.table}.${sealed.column}`, sealed_again: values, key: vault.currentKeyId });
        }
        return { rows };
      } finally {
        await db.close();
      }
    },
  },
};
