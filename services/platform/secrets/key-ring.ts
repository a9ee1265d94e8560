// Keys as they are given in settings: `id:base64(32 bytes)`, comma-separated. The first is used for what is new, every
// one for what is there, so that a key is replaced in steps and without a stop. A key may be given wrapped, as a key
// management service wrote it.
/** Keys by their name, the first one first. */
export type KeyRing = ReadonlyMap<string, Buffer>;

/** The same as they are given: bytes, or the text of a wrapped key. */
export type ConfiguredKeys = ReadonlyMap<string, Buffer | string>;

const wrappedForm = /^vault:v\d{1,10}:[A-Za-z0-9+/]{1,1000}={0,2}$/;

/** What Vault's transit engine writes. It has colons, which base64 has not, so that it is no other form with a name. */
export function isWrapped(key: unknown): key is string {
  return typeof key === "string" && wrappedForm.test(key);
}

const keyLength = 32;

/**
 * A key of 32 bytes as `openssl rand -base64 32` writes it; undefined: the text is anything else. Node's reader of
 * base64 ends at the first `=` and passes over what it does not know, so that of two keys with a forgotten comma
 * between them one would be lost unseen.
 */
export function keyOf(text: string): Buffer | undefined {
  const key = Buffer.from(text, "base64");
  return key.length === keyLength && key.toString("base64") === text ? key : undefined;
}

// One that is used and the ones before it. Each costs a hash at every look-up, and nobody should carry old keys on for
// ever.
const hashKeysMax = 4;

/** The first one encrypts, every one decrypts. */
export const encryptionKeys = { parse: (raw: string): ConfiguredKeys => parseRing(raw, false) };

/**
 * The first one hashes, every one recognises. One of them may come without a name, as the first key of every
 * installation did: it is then known as the one without a name.
 */
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

/** One key under two names is no rotation. */
function isAmong(keys: ConfiguredKeys, key: Buffer | string): boolean {
  return [...keys.values()].some((known) => String(known) === String(key));
}
