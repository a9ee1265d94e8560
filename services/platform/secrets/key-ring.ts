// Key rings in settings: `id:base64(32 bytes)`, comma-separated. The first key is used for new values, all keys for
// existing ones, so a key is replaced in steps without downtime. A key may be wrapped by a key management service.
/** Keys by name, the current one first. */
export type KeyRing = ReadonlyMap<string, Buffer>;

/** Keys as configured: bytes, or the text of a wrapped key. */
export type ConfiguredKeys = ReadonlyMap<string, Buffer | string>;

const wrappedForm = /^vault:v\d{1,10}:[A-Za-z0-9+/]{1,1000}={0,2}$/;

/** The format of Vault's transit engine. Its colons distinguish it from base64. */
export function isWrapped(key: unknown): key is string {
  return typeof key === "string" && wrappedForm.test(key);
}

const keyLength = 32;

/**
 * A 32-byte key as `openssl rand -base64 32` prints it, or undefined. Node's base64 decoder stops at the first `=` and
 * ignores unknown characters, so a missing comma would silently drop a key.
 */
export function keyOf(text: string): Buffer | undefined {
  const key = Buffer.from(text, "base64");
  return key.length === keyLength && key.toString("base64") === text ? key : undefined;
}

// The current key and earlier ones. Each costs a hash per lookup, and old keys should not be kept permanently.
const hashKeysMax = 4;

/** The first key encrypts, all decrypt. */
export const encryptionKeys = { parse: (raw: string): ConfiguredKeys => parseRing(raw, false) };

/** The first key hashes, all match. One key may have no name, as in every first installation. */
export const hashKeys = {
  parse: (raw: string): ConfiguredKeys => {
    const keys = parseRing(raw, true);
    if (keys.size > hashKeysMax) throw new Error(`must be at most ${hashKeysMax} keys`);
    return keys;
  },
};

function parseRing(raw: string, mayBeNameless: boolean): ConfiguredKeys {
  const keys = new Map<string, Buffer | string>();
  for (const entry of raw.split(",").map((each) => each.trim())) {
    const isNameless = mayBeNameless && (!entry.includes(":") || isWrapped(entry));
    const [, id = "", text = ""] = isNameless ? ["", "", entry] : (/^([a-z0-9_-]{1,16}):(.*)$/s.exec(entry) ?? []);
    const key = isWrapped(text) ? text : keyOf(text);
    if (!(isNameless || id !== "") || key === undefined || keys.has(id) || isAmong(keys, key)) {
      throw new Error(
        mayBeNameless
          ? "must be 32 bytes in base64 (openssl rand -base64 32), or id:base64 pairs of such, comma-separated, with distinct keys and ids of [a-z0-9_-]{1,16}; one may be without id"
          : "must be id:base64 pairs, comma-separated, with distinct ids of [a-z0-9_-]{1,16} and distinct keys of 32 bytes (openssl rand -base64 32)",
      );
    }
    keys.set(id, key);
  }
  return keys;
}

/** One key under two names is not a rotation. */
function isAmong(keys: ConfiguredKeys, key: Buffer | string): boolean {
  return [...keys.values()].some((known) => String(known) === String(key));
}
