// A mark on every event that its own service can recognise and nobody else can make: the key of an event's MAC is
// shared with all who follow the source, this one is derived from the service's encryption keys. An event with it was
// committed by this service, whoever holds the broker.
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import type { KeyRing } from "./key-ring.ts";

/** The header of the message that carries it: `<key id>.<base64url>`. */
export const sealHeader = "Tollbooth-Seal";

const purpose = "tollbooth event seal";

export class OwnSeal {
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #currentId: string;

  /** @param keys the first one seals; all of them recognise */
  constructor(keys: KeyRing) {
    const derived = (key: Buffer) => createSecretKey(createHmac("sha256", key).update(purpose).digest());
    this.#keys = new Map([...keys].map(([id, key]) => [id, derived(key)]));
    const [currentId = ""] = keys.keys();
    this.#currentId = currentId;
  }

  of(subject: string, body: Uint8Array): string {
    return `${this.#currentId}.${this.#made(this.#currentId, subject, body)?.toString("base64url") ?? ""}`;
  }

  /** @param seal as it came; empty: without one */
  isOwn(subject: string, body: Uint8Array, seal: string): boolean {
    const dot = seal.lastIndexOf(".");
    const made = this.#made(seal.slice(0, Math.max(dot, 0)), subject, body);
    const received = Buffer.from(seal.slice(dot + 1), "base64url");
    return made !== undefined && made.length === received.length && timingSafeEqual(made, received);
  }

  /** A subject has no line end, so that it cannot run into the body. */
  #made(keyId: string, subject: string, body: Uint8Array): Buffer | undefined {
    const key = this.#keys.get(keyId);
    return key && createHmac("sha256", key).update(`${subject}\n`).update(body).digest();
  }
}
