// `tollbooth encryption-keys …`: shows which encryption and hash keys are still needed, and wraps them by the key
// management service (docs/configuration.md).
import { randomBytes } from "node:crypto";
import { Database } from "#platform/database/database.ts";
import { checkSchema } from "#platform/database/schema-state.ts";
import { ConfigError, type ConfigValues, optionalSetting, readConfig } from "#platform/process/config.ts";
import { KeyManagementError, tryAgain, VaultTransit } from "#platform/secrets/key-management.ts";
import {
  type ConfiguredKeys,
  encryptionKeys as encryptionRing,
  hashKeys,
  isWrapped,
} from "#platform/secrets/key-ring.ts";
import { keyManagementProblems, keyManagementSettings } from "#platform/secrets/open-keys.ts";
import { readKeyAges } from "#platform/service/encryption-keys.ts";
import { serviceSettings } from "#platform/service/settings.ts";
import { createLog } from "#platform/telemetry/log.ts";
import type { Members } from "#platform/values/unchecked.ts";
import { type Source, sealedColumns } from "../../../services/services.ts";
import { type Answer, type Commands, type Row, UsageError } from "../command.ts";
import { serviceOf, serviceOption } from "../wire.ts";
import { hashedColumns } from "./hashed-columns.ts";

const ofKms = "prints ENCRYPTION_KEYS and HASH_KEY if set (with KMS and VAULT_…)";

export const encryptionKeys: Commands = {
  use: {
    about:
      "counts the rows of a service's database that need each key, to find out when an old one can be removed, with the settings of its pod (DATABASE_URL); needs no key",
    isAlone: true,
    options: serviceOption,
    run: async (_peers, input) => {
      const { service, env } = serviceOf(input);
      const { DATABASE_URL } = readConfig({ DATABASE_URL: serviceSettings.DATABASE_URL }, env);
      const db = await Database.open({ url: DATABASE_URL, name: "key-use", log: createLog("key-use", "error") });
      try {
        await checkSchema(db, service);
        return { rows: [...(await hashKeyRows(db, service)), ...(await encryptionKeyRows(db, service))] };
      } finally {
        await db.close();
      }
    },
  },
  wrap: {
    about: `${ofKms}, and wraps keys that are not wrapped yet`,
    isAlone: true,
    run: () => changed((ring, { wrap }) => mapped(ring, (key) => (isWrapped(key) ? key : wrap(key)))),
  },
  new: {
    about: `${ofKms}, and appends a new wrapped key; move it to the front when every process has it`,
    args: ["id"],
    isAlone: true,
    run: (_peers, input) => {
      const id = input.arg("id");
      if (!/^[a-z0-9_-]{1,16}$/.test(id))
        throw new UsageError("an id must have 1 to 16 characters of a-z, 0-9, _ and -");
      return changed(async (ring, { wrap }) => {
        if (ring.has(id)) throw new ConfigError(`there is a key ${id}`);
        return new Map(ring).set(id, await wrap(randomBytes(32)));
      });
    },
  },
  rewrap: {
    about: `${ofKms}, and wraps wrapped keys again, after a rotation of the wrapping key`,
    isAlone: true,
    run: () => changed((ring, { rewrap }) => mapped(ring, (key) => (isWrapped(key) ? rewrap(key) : key))),
  },
};

/** Wraps keys with the service that processes ask to unwrap them. */
export class KeyWrapper extends VaultTransit {
  /** @returns the text to configure in place of the key */
  async wrap(key: Buffer): Promise<string> {
    return this.#wrapped(await this.transit("encrypt", { plaintext: key.toString("base64") }));
  }

  /** Wraps the same key under the newest wrapping key without revealing it. */
  async rewrap(wrapped: string): Promise<string> {
    return this.#wrapped(await this.transit("rewrap", { ciphertext: wrapped }));
  }

  #wrapped({ ciphertext }: Members): string {
    if (isWrapped(ciphertext)) return ciphertext;
    throw this.problem("returned something other than a wrapped key");
  }
}

function wrapperOf(settings: ConfigValues<typeof keyManagementSettings>): KeyWrapper {
  const problems = keyManagementProblems(settings);
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  if (settings.KMS === "environment") throw new KeyManagementError("KMS=environment cannot wrap keys", false);
  return new KeyWrapper(settings);
}

type Key = Buffer | string;
type Change = (ring: ConfiguredKeys, management: Pick<KeyWrapper, "wrap" | "rewrap">) => Promise<ConfiguredKeys>;

/** Applies `change` to every ring that is set. */
async function changed(change: Change): Promise<Answer> {
  const { ENCRYPTION_KEYS, HASH_KEY, ...settings } = readConfig({
    ...keyManagementSettings,
    ENCRYPTION_KEYS: optionalSetting(encryptionRing),
    HASH_KEY: optionalSetting(hashKeys),
  });
  const rings = Object.entries({ ENCRYPTION_KEYS, HASH_KEY }).flatMap(([name, ring]) => (ring ? [{ name, ring }] : []));
  if (rings.length === 0) throw new ConfigError("ENCRYPTION_KEYS or HASH_KEY must be set");
  const management = wrapperOf(settings);
  const patient = {
    wrap: (key: Buffer) => tryAgain(() => management.wrap(key)),
    rewrap: (key: string) => tryAgain(() => management.rewrap(key)),
  };
  try {
    const rows: { readonly setting: string; readonly value: string }[] = [];
    for (const { name, ring } of rings) rows.push({ setting: name, value: textOf(await change(ring, patient)) });
    return { rows, text: rows.map(({ setting, value }) => `${setting}=${value}`).join("\n") };
  } finally {
    await management.close();
  }
}

async function mapped(ring: ConfiguredKeys, change: (key: Key) => Key | Promise<Key>): Promise<ConfiguredKeys> {
  const next = new Map<string, Key>();
  for (const [name, key] of ring) next.set(name, await change(key));
  return next;
}

function textOf(ring: ConfiguredKeys): string {
  return [...ring]
    .map(([name, key]) => `${name === "" ? "" : `${name}:`}${isWrapped(key) ? key : key.toString("base64")}`)
    .join();
}

async function hashKeyRows(db: Database, service: Source): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { table, column, keyIdColumn, inUse } of hashedColumns[service]) {
    const found = await db.rows<{ id: string; used: string; ended: string }>(
      `select ${keyIdColumn} as id, count(*) filter (where ${inUse}) as used, count(*) filter (where not (${inUse})) as ended
       from ${table} group by 1 order by 1`,
    );
    for (const { id, used, ended } of found) {
      rows.push({
        key: id === "" ? "hash key without a name" : `hash key ${id}`,
        needed_by: `${table}.${column}`,
        in_use: used,
        ended,
      });
    }
  }
  return rows;
}

async function encryptionKeyRows(db: Database, service: Source): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { table, column } of sealedColumns[service]) {
    const found = await db.rows<{ id: string; values: string }>(
      `select encode(substring(${column} from 2 for get_byte(${column}, 0)), 'escape') as id, count(*) as values
       from ${table} where ${column} is not null group by 1 order by 1`,
    );
    for (const { id, values } of found) {
      rows.push({ key: `encryption key ${id}`, needed_by: `${table}.${column}`, in_use: values });
    }
  }
  for (const [id, { firstUsedAt }] of await readKeyAges(db)) {
    rows.push({ key: `encryption key ${id}`, since: firstUsedAt.toISOString().slice(0, 10) });
  }
  return rows;
}
