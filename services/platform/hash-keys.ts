// What is stored instead of a secret that only has to be recognised: its HMAC under the service's hash keys. The first key hashes, all
// recognise, so that a key can be replaced while what it hashed is still in use; whoever recognises a secret under an older key stores it
// again under the first.
import { createHmac } from "node:crypto";

/** What stands in the database for a secret. */
export interface KeyedHash {
  /** Which of the hash keys; empty: the one without a name. */
  readonly keyId: string;
  readonly hash: Buffer;
}

export class HashKeys {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #current: string;

  constructor(keys: ReadonlyMap<string, Buffer>) {
    const [current] = keys.keys();
    if (current === undefined) throw new Error("there must be at least one hash key");
    this.#keys = keys;
    this.#current = current;
  }

  /** Name of the key that hashes. */
  get currentId(): string {
    return this.#current;
  }

  /** Under the first key: what to store. */
  hash(secret: string): KeyedHash {
    return { keyId: this.#current, hash: this.hashes(secret)[0] as Buffer };
  }

  /** Under each key, the first one first: what may be stored of the secret, or of anything else that is looked up by its hash. */
  hashes(secret: string): Buffer[] {
    return [...this.#keys.values()].map((key) => createHmac("sha256", key).update(secret).digest());
  }
}
