// Whether an event is its source's: a MAC over the event's subject and bytes, under a key that the source and those who
// follow it have. The broker lets nobody but a source publish under its subject; this holds too where the broker is
// somebody else's, or was told wrongly.
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { type KeyRing, keyOf } from "#platform/secrets/key-ring.ts";
import { LiveFile } from "#platform/secrets/live-file.ts";
import { type Source, sources } from "../../services.ts";

/** The header of the message that carries it, base64url. */
export const macHeader = "Tollbooth-Mac";

/** The keys of a process: its own source's, and those of the sources that it follows. */
export interface EventKeys {
  /** By the first key of the source. @throws Error when the process has none. */
  macOf(source: Source, subject: string, body: Uint8Array): string;
  /** Why the event is not to be believed; undefined: it is its source's. @param mac as it came; empty: without one */
  doubt(source: Source, subject: string, body: Uint8Array, mac: string): Doubt | undefined;
  /** Why the newest file is not used; undefined: it is. */
  readonly problem: string | undefined;
}

export const doubts = ["no_mac", "wrong_mac", "unknown_source"] as const;
export type Doubt = (typeof doubts)[number];

/**
 * A file with a line `<source> base64:<32 bytes>` for each key: the first of a source makes MACs, every one is
 * accepted, so that a key is changed without a refused event. `unsigned accepted` lets events without a MAC pass, while
 * releases that make none still run.
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

/** The line of a keys file. */
export function eventKeyLine(source: Source, key: Uint8Array): string {
  return `${source} base64:${Buffer.from(key).toString("base64")}`;
}

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
  const isMade = (key: KeyObject) => {
    const made = macBytes(key, subject, body);
    return made.length === received.length && timingSafeEqual(made, received);
  };
  return known.some(isMade) ? undefined : "wrong_mac";
}

/** A subject has no line end, so that it cannot run into the body. */
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

// A mark on every event that its own service can recognise and nobody else can make: the key of an event's MAC is
// shared with all who follow the source, this one is derived from the service's encryption keys. An event with it was
// committed by this service, whoever holds the broker.

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
