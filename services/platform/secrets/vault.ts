// Creating, comparing and encrypting secrets (docs/contract.md §3).
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import type { KeyRing } from "./key-ring.ts";

/** Encrypts small secrets with AES-256-GCM under named keys; the first key encrypts, all decrypt. */
export class Vault {
  // Created once: node:crypto would import the key's bytes on each use, which costs more than the encryption.
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #current: string;

  constructor(keys: KeyRing) {
    const [current] = keys.keys();
    if (current === undefined) throw new Error("a vault needs at least one key");
    this.#keys = new Map([...keys].map(([id, key]) => [id, createSecretKey(key)]));
    this.#current = current;
  }

  /** A ciphertext starts with the name of its key. */
  get currentKeyId(): string {
    return this.#current;
  }

  get keyIds(): ReadonlySet<string> {
    return new Set(this.#keys.keys());
  }

  /**
   * Format: `length of key id, key id, nonce (12), tag (16), data`. `context` names the secret's owner (such as
   * `endpoint:whk_…`): a ciphertext copied to another row does not decrypt.
   */
  encrypt(plain: string | Uint8Array, context: string): Buffer {
    const id = Buffer.from(this.#current);
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.#key(this.#current), nonce);
    cipher.setAAD(Buffer.from(context));
    const data = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([Buffer.of(id.length), id, nonce, cipher.getAuthTag(), data]);
  }

  /** @throws when the key is unknown, the context differs or the bytes were changed */
  decrypt(sealed: Uint8Array, context: string): Buffer {
    const bytes = Buffer.from(sealed);
    const id = keyIdOf(bytes);
    const idEnd = 1 + (bytes[0] ?? 0);
    const nonceEnd = idEnd + 12;
    const tagEnd = nonceEnd + 16;
    const decipher = createDecipheriv("aes-256-gcm", this.#key(id), bytes.subarray(idEnd, nonceEnd));
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(nonceEnd, tagEnd));
    return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]);
  }

  #key(id: string): KeyObject {
    const key = this.#keys.get(id);
    if (!key) throw new Error("no such encryption key");
    return key;
  }
}

/** Name of the key that encrypted the value. */
export function keyIdOf(sealed: Buffer): string {
  return sealed.toString("utf8", 1, 1 + (sealed[0] ?? 0));
}

/** Constant time; texts of different length differ at once, which reveals no secret. */
export function sameSecret(a: string | Uint8Array, b: string | Uint8Array): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Random text of `bytes` bytes in base64url. */
export function randomToken(bytes: number): string {
  return randomBytes(bytes).toString("base64url");
}

// HMACs of secrets that only need to be recognised. The first key hashes and all keys match, so a key can be replaced
// while its hashes are in use. Code that recognises a secret under an older key stores it under the first.

/** The stored form of a secret. */
export interface KeyedHash {
  /** Name of the hash key; empty for the key without a name. */
  readonly keyId: string;
  readonly hash: Buffer;
}

export class HashKeys {
  readonly #keys: readonly KeyObject[];
  readonly #current: KeyObject;
  /** Name of the current key. */
  readonly currentId: string;

  constructor(keys: ReadonlyMap<string, Buffer>) {
    const [currentId] = keys.keys();
    this.#keys = [...keys.values()].map((key) => createSecretKey(key));
    const [current] = this.#keys;
    if (currentId === undefined || !current) throw new Error("there must be at least one hash key");
    this.currentId = currentId;
    this.#current = current;
  }

  /** Hash under the current key, to store. */
  hash(secret: string): KeyedHash {
    return { keyId: this.currentId, hash: hashUnder(this.#current, secret) };
  }

  /** Hashes under each key, the current one first, to look up. */
  hashes(secret: string): Buffer[] {
    return this.#keys.map((key) => hashUnder(key, secret));
  }
}

function hashUnder(key: KeyObject, secret: string): Buffer {
  return createHmac("sha256", key).update(secret).digest();
}
