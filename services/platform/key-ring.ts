// Keys as they are given in settings: `id:base64(32 bytes)`, comma-separated. The first is used for what is new, every one for what is
// there, so that a key is replaced in steps and without a stop.
/** Keys by their name, the first one first. */
export type KeyRing = ReadonlyMap<string, Buffer>;

// One that is used and the ones before it. Each costs a hash at every look-up, and nobody should carry old keys on for ever.
const hashKeysMax = 4;

/** The first one encrypts, every one decrypts. */
export const encryptionKeys = { parse: (raw: string): KeyRing => parseRing(raw, false) };

/**
 * The first one hashes, every one recognises. One of them may come without a name, as the first key of every installation did: it is
 * then known as the one without a name.
 */
export const hashKeys = {
  parse: (raw: string): KeyRing => {
    const keys = parseRing(raw, true);
    if (keys.size > hashKeysMax) throw new Error(`must be at most ${hashKeysMax} keys`);
    return keys;
  },
};

function parseRing(raw: string, mayBeNameless: boolean): KeyRing {
  const keys = new Map<string, Buffer>();
  for (const part of raw.split(",")) {
    const [, id = "", encoded = ""] = /^(?:([^:]*):)?(.*)$/s.exec(part.trim()) ?? [];
    const isNameless = mayBeNameless && !part.includes(":");
    const bytes = Buffer.from(encoded, "base64");
    if (!(isNameless || /^[a-z0-9_-]{1,16}$/.test(id)) || bytes.length !== 32 || keys.has(id)) {
      throw new Error(
        mayBeNameless
          ? "must be 32 bytes in base64 (openssl rand -base64 32), or id:base64 pairs of such, comma-separated, with distinct ids of [a-z0-9_-]{1,16}; one may be without id"
          : "must be id:base64 pairs, comma-separated, with distinct ids of [a-z0-9_-]{1,16} and keys of 32 bytes",
      );
    }
    keys.set(id, bytes);
  }
  return keys;
}
