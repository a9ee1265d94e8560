// Proof of an event's source: a MAC over subject and bytes under a key that the source and its consumers share. The
// broker's permissions already restrict publishing; the MAC also holds if the broker is foreign or misconfigured.
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { type KeyRing, keyOf } from "#platform/secrets/key-ring.ts";
import { LiveFile } from "#platform/secrets/live-file.ts";
import { sameSecret } from "#platform/secrets/vault.ts";
import { type Source, sources } from "../../services.ts";

/** Header with the MAC, base64url. */
export const macHeader = "Tollbooth-Mac";

/** Keys of a process: its own source's, and those of the sources it consumes. */
export interface EventKeys {
  /** Uses the source's first key. @throws Error without a key */
  macOf(source: Source, subject: string, body: Uint8Array): string;
  /** Why the event is rejected; undefined when the MAC is valid. @param mac empty when the header is missing */
  doubt(source: Source, subject: string, body: Uint8Array, mac: string): Doubt | undefined;
  /** Why the newest file is not used; undefined if it is. */
  readonly problem: string | undefined;
}

export const doubts = ["no_mac", "wrong_mac", "unknown_source"] as const;
export type Doubt = (typeof doubts)[number];

/**
 * A file with one line `<source> base64:<32 bytes>` per key. A source's first key signs and all keys verify, so a key
 * changes without a rejected event. `unsigned accepted` admits events without a MAC while older releases run.
 */
export const eventKeysFile = {
  parse: (path: string): EventKeys => {
    const file = new LiveFile(path, keysOf);
    return {
      macOf: (source, subject, body) => {
        const [key] = file.value.of.get(source) ?? [];
        if (!key) throw new Error(`there is no key for the events of ${source}`);
        return macBytes(key, subject, body).toString("base64url");
      },
      doubt: (source, subject, body, mac) => doubtOf(file.value, source, { subject, body, mac }),
      get problem() {
        return file.problem;
      },
    };
  },
};

interface Keys {
  readonly of: ReadonlyMap<Source, readonly KeyObject[]>;
  readonly acceptsUnsigned: boolean;
}

interface SignedEvent {
  readonly subject: string;
  readonly body: Uint8Array;
  readonly mac: string;
}

function doubtOf(keys: Keys, source: Source, { subject, body, mac }: SignedEvent): Doubt | undefined {
  const known = keys.of.get(source);
  if (!known) return "unknown_source";
  if (mac === "") return keys.acceptsUnsigned ? undefined : "no_mac";
  const received = Buffer.from(mac, "base64url");
  return known.some((key) => sameSecret(macBytes(key, subject, body), received)) ? undefined : "wrong_mac";
}

/** A subject contains no line end, so it cannot run into the body. */
function macBytes(key: KeyObject, subject: string, body: Uint8Array): Buffer {
  return createHmac("sha256", key).update(`${subject}\n`).update(body).digest();
}

function keysOf(text: string): Keys {
  const found = new Map<Source, KeyObject[]>();
  let acceptsUnsigned = false;
  for (const line of text.split("\n").map((each) => each.replace(/#.*/, "").trim())) {
    if (line === "") continue;
    if (/^unsigned\s+accepted$/.test(line)) {
      acceptsUnsigned = true;
      continue;
    }
    const [, label = "", encoded = ""] = /^(\w+)\s+base64:(\S+)$/.exec(line) ?? [];
    const source = sources.find((each) => each === label);
    const bytes = keyOf(encoded);
    if (!source || !bytes) {
      throw new Error(`must have lines "<source> base64:<32 bytes>" with a source of ${sources.join(", ")}`);
    }
    found.set(source, [...(found.get(source) ?? []), createSecretKey(bytes)]);
  }
  if (found.size === 0) throw new Error("must have the key of at least one source");
  return { of: found, acceptsUnsigned };
}

// A mark that only the announcing service can make and recognise: an event's MAC key is shared with consumers, this key
// is derived from the service's encryption keys. A sealed event was committed by this service, even if the broker is
// compromised.

/** Header with the seal: `<key id>.<base64url>`. */
export const sealHeader = "Tollbooth-Seal";

const purpose = "tollbooth event seal";

export class EventSeal {
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #currentId: string;
  readonly #current: KeyObject;

  /** @param keys the first key seals, all recognise */
  constructor(keys: KeyRing) {
    const derived = (key: Buffer) => createSecretKey(createHmac("sha256", key).update(purpose).digest());
    this.#keys = new Map([...keys].map(([id, key]) => [id, derived(key)]));
    const [current] = this.#keys;
    if (!current) throw new Error("a seal needs at least one key");
    [this.#currentId, this.#current] = current;
  }

  of(subject: string, body: Uint8Array): string {
    return `${this.#currentId}.${macBytes(this.#current, subject, body).toString("base64url")}`;
  }

  /** @param seal empty when the header is missing */
  isOwn(subject: string, body: Uint8Array, seal: string): boolean {
    const dot = seal.lastIndexOf(".");
    const key = this.#keys.get(seal.slice(0, Math.max(dot, 0)));
    return key !== undefined && sameSecret(macBytes(key, subject, body), Buffer.from(seal.slice(dot + 1), "base64url"));
  }
}
