// `tollbooth reencrypt`: encrypts a service's secrets with the first of its encryption keys. Run it for each service
// when all replicas have the new key first in ENCRYPTION_KEYS; older keys can be removed afterwards.
import { Database } from "#platform/database/database.ts";
import { checkSchema } from "#platform/database/schema-state.ts";
import { readConfig } from "#platform/process/config.ts";
import { keyManagementSettings, withOpenKeys } from "#platform/secrets/open-keys.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { serviceSettings } from "#platform/service/settings.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { sealedColumns } from "../../../services/services.ts";
import type { Commands, Row } from "../command.ts";
import { serviceOf, serviceOption } from "../wire.ts";
import { reencryptColumn } from "./reencrypt-column.ts";

const settings = {
  ...keyManagementSettings,
  DATABASE_URL: serviceSettings.DATABASE_URL,
  ENCRYPTION_KEYS: serviceSettings.ENCRYPTION_KEYS,
};

export const reencrypt: Commands = {
  "": {
    about:
      "encrypts a service's secrets with the first of its encryption keys, with the settings of its pod (DATABASE_URL, ENCRYPTION_KEYS, KMS); safe to repeat and to interrupt",
    isAlone: true,
    options: serviceOption,
    run: async (_peers, input) => {
      const { service, env } = serviceOf(input);
      const { DATABASE_URL, ENCRYPTION_KEYS } = await withOpenKeys(readConfig(settings, env));
      const db = await Database.open({ url: DATABASE_URL, name: "reencrypt", log: createLog("reencrypt", "error") });
      try {
        await checkSchema(db, service);
        const vault = new Vault(ENCRYPTION_KEYS);
        const rows: Row[] = [];
        for (const sealed of sealedColumns[service]) {
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
