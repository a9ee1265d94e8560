// What is stored instead of a secret that only has to be recognised: its HMAC under the service's hash keys. The first
// key hashes, all recognise, so that a key can be replaced while what it hashed is still in use; whoever recognises a
// secret under an older key stores it again under the first.
import { createHmac } from "node:crypto";

/** What stands in the database for a secret. */
export interface KeyedHash {
  /** Which of the hash keys; empty: the one without a name. */
  readonly keyId: string;
  readonly hash: Buffer;
}

export class HashKeys {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #current: Buffer;
  /** Name of the key that hashes. */
  readonly currentId: string;

  constructor(keys: ReadonlyMap<string, Buffer>) {
    const [current] = keys;
    if (current === undefined) throw new Error("there must be at least one hash key");
    this.#keys = keys;
    [this.currentId, this.#current] = current;
  }

  /** Under the first key: what to store. */
  hash(secret: string): KeyedHash {
    return { keyId: this.currentId, hash: hashUnder(this.#current, secret) };
  }

  /**
   * Under each key, the first one first: what may be stored of the secret, or of anything else that is looked up by its
   * hash.
   */
  hashes(secret: string): Buffer[] {
    return [...this.#keys.values()].map((key) => hashUnder(key, secret));
  }
}

function hashUnder(key: Buffer, secret: string): Buffer {
  return createHmac("sha256", key).update(secret).digest();
}
