// Keys as they are given in settings: `id:base64(32 bytes)`, comma-separated. The first is used for what is new, every one for what is
// there, so that a key is replaced in steps and without a stop. A key may be given wrapped, as a key management service wrote it.
/** Keys by their name, the first one first. */
export type KeyRing = ReadonlyMap<string, Buffer>;

/** The same as they are given: bytes, or the text of a wrapped key. */
export type GivenKeys = ReadonlyMap<string, Buffer | string>;

const wrappedForm = /^vault:v\d{1,10}:[A-Za-z0-9+/]{1,1000}={0,2}$/;

/** What Vault's transit engine writes. It has colons, which base64 has not, so that it is no other form with a name. */
export function isWrapped(key: unknown): key is string {
  return typeof key === "string" && wrappedForm.test(key);
}

// One that is used and the ones before it. Each costs a hash at every look-up, and nobody should carry old keys on for ever.
const hashKeysMax = 4;

/** The first one encrypts, every one decrypts. */
export const encryptionKeys = { parse: (raw: string): GivenKeys => parseRing(raw, false) };

/**
 * The first one hashes, every one recognises. One of them may come without a name, as the first key of every installation did: it is
 * then known as the one without a name.
 */
export const hashKeys = {
  parse: (raw: string): GivenKeys => {
    const keys = parseRing(raw, true);
    if (keys.size > hashKeysMax) throw new Error(`must be at most ${hashKeysMax} keys`);
    return keys;
  },
};

function parseRing(raw: string, mayBeNameless: boolean): GivenKeys {
  const keys = new Map<string, Buffer | string>();
  for (const part of raw.split(",").map((each) => each.trim())) {
    const isNameless = mayBeNameless && (!part.includes(":") || isWrapped(part));
    const [, id = "", text = ""] = isNameless ? ["", "", part] : (/^([a-z0-9_-]{1,16}):(.*)$/s.exec(part) ?? []);
    const key = isWrapped(text) ? text : Buffer.from(text, "base64");
    if (!(isNameless || id !== "") || (Buffer.isBuffer(key) && key.length !== 32) || keys.has(id)) {
      throw new Error(
        mayBeNameless
          ? "must be 32 bytes in base64 (openssl rand -base64 32), or id:base64 pairs of such, comma-separated, with distinct ids of [a-z0-9_-]{1,16}; one may be without id"
          : "must be id:base64 pairs, comma-separated, with distinct ids of [a-z0-9_-]{1,16} and keys of 32 bytes",
      );
    }
    keys.set(id, key);
  }
  return keys;
}
