// `npm run wrap-keys -- <wrap|new|rewrap>`: prints ENCRYPTION_KEYS and HASH_KEY, as far as they are set, with their keys wrapped by the key
// management service. `wrap` wraps the keys that are not; `new <id>` puts a new key last, which nobody has seen open; `rewrap` brings wrapped
// ones under the newest version of the key around them. Settings: KMS and VAULT_…, ENCRYPTION_KEYS, HASH_KEY.
import { randomBytes } from "node:crypto";
import { ConfigError, keyManagementSettings, optional, readConfig } from "#platform/config.ts";
import { type KeyManagement, KeyManagementError, tried } from "#platform/key-management.ts";
import { encryptionKeys, type GivenKeys, hashKeys, isWrapped } from "#platform/key-ring.ts";
import { keyManagementOf } from "#platform/open-keys.ts";

const usage = `usage: wrap-keys wrap         wraps the keys that are not wrapped yet
       wrap-keys new <id>     puts a new wrapped key last; move it to the front when every process knows it
       wrap-keys rewrap       wraps the wrapped ones anew, after the key around them was rotated`;

const [verb = "", id = "", ...more] = process.argv.slice(2);
const isId = /^[a-z0-9_-]{1,16}$/.test(id);
if (more.length > 0 || !(verb === "new" ? isId : ["wrap", "rewrap"].includes(verb) && id === "")) {
  console.error(usage);
  process.exit(2);
}
try {
  const { ENCRYPTION_KEYS, HASH_KEY, ...settings } = readConfig({
    ...keyManagementSettings,
    ENCRYPTION_KEYS: optional(encryptionKeys),
    HASH_KEY: optional(hashKeys),
  });
  const management = keyManagementOf(settings);
  try {
    const rings = Object.entries({ ENCRYPTION_KEYS, HASH_KEY }).flatMap(([name, ring]) =>
      ring ? [{ name, ring }] : [],
    );
    if (rings.length === 0) throw new ConfigError("ENCRYPTION_KEYS or HASH_KEY must be set");
    for (const { name, ring } of rings) console.log(`${name}=${textOf(await changed(management, ring))}`);
  } finally {
    await management.close();
  }
} catch (error) {
  console.error(error instanceof ConfigError || error instanceof KeyManagementError ? error.message : error);
  process.exitCode = 1;
}

async function changed(management: KeyManagement, ring: GivenKeys): Promise<GivenKeys> {
  const next = new Map(ring);
  if (verb === "new") {
    if (next.has(id)) throw new ConfigError(`there is a key ${id}`);
    return next.set(id, await tried(() => management.wrap(randomBytes(32))));
  }
  for (const [name, key] of ring) {
    if (verb === "wrap" && !isWrapped(key)) next.set(name, await tried(() => management.wrap(key)));
    if (verb === "rewrap" && isWrapped(key)) next.set(name, await tried(() => management.rewrap(key)));
  }
  return next;
}

function textOf(ring: GivenKeys): string {
  return [...ring]
    .map(([name, key]) => `${name === "" ? "" : `${name}:`}${isWrapped(key) ? key : key.toString("base64")}`)
    .join();
}
