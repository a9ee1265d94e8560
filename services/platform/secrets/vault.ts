// Secrets: how they are made, compared and kept at rest (docs/contract.md §3).
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

/** Encrypts and decrypts small secrets with AES-256-GCM under named keys; the first key encrypts, all decrypt. */
export class Vault {
  // Made once: node:crypto makes an object of a key's bytes anew for each use, which costs more than the encryption.
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #current: string;

  constructor(keys: KeyRing) {
    const [current] = keys.keys();
    if (current === undefined) throw new Error("a vault needs at least one key");
    this.#keys = new Map([...keys].map(([id, key]) => [id, createSecretKey(key)]));
    this.#current = current;
  }

  /** Name of the key that encrypts; a ciphertext begins with the name of its key. */
  get currentKeyId(): string {
    return this.#current;
  }

  /** Names of all keys. */
  get keyIds(): ReadonlySet<string> {
    return new Set(this.#keys.keys());
  }

  /**
   * Ciphertext as `length of key id, key id, nonce (12), tag (16), data`. `context` names what the secret belongs to
   * (say `endpoint:whk_…`): a ciphertext copied to another row does not decrypt there.
   */
  encrypt(plain: string | Uint8Array, context: string): Buffer {
    const id = Buffer.from(this.#current);
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.#key(this.#current), nonce);
    cipher.setAAD(Buffer.from(context));
    const data = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([Buffer.of(id.length), id, nonce, cipher.getAuthTag(), data]);
  }

  /** The plaintext. Throws when the key is unknown, the context differs or the bytes were changed. */
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

/** Name of the key that sealed it. */
export function keyIdOf(sealed: Buffer): string {
  return sealed.toString("utf8", 1, 1 + (sealed[0] ?? 0));
}

/** Compares in constant time; texts of different length differ at once, which tells nothing secret. */
export function sameSecret(a: string | Uint8Array, b: string | Uint8Array): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Random text of `bytes` bytes in base64url. */
export function randomToken(bytes: number): string {
  return randomBytes(bytes).toString("base64url");
}

// What is stored instead of a secret that only has to be recognised: its HMAC under the service's hash keys. The first
// key hashes, all recognise, so that a key can be replaced while what it hashed is still in use; whoever recognises a
// secret under an older key stores it again under the first.

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
