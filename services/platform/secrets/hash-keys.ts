// What is stored instead of a secret that only has to be recognised: its HMAC under the service's hash keys. The first
// key hashes, all recognise, so that a key can be replaced while what it hashed is still in use; whoever recognises a
// secret under an older key stores it again under the first.
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/** What stands in the database for a secret. */
export interface KeyedHash {
  /** Which of the hash keys; empty: the one without a name. */
  readonly keyId: string;
  readonly hash: Buffer;
}

export class HashKeys {
  readonly #keys: readonly KeyObject[];
  readonly #current: KeyObject;
  /** Name of the key that hashes. */
  readonly currentId: string;

  constructor(keys: ReadonlyMap<string, Buffer>) {
    const [currentId] = keys.keys();
    this.#keys = [...keys.values()].map((key) => createSecretKey(key));
    const [current] = this.#keys;
    if (currentId === undefined || !current) throw new Error("there must be at least one hash key");
    this.currentId = currentId;
    this.#current = current;
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
    return this.#keys.map((key) => hashUnder(key, secret));
  }
}

function hashUnder(key: KeyObject, secret: string): Buffer {
  return createHmac("sha256", key).update(secret).digest();
}
