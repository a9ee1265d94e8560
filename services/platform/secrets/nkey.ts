// Who a process is at the broker: an Ed25519 key in NATS' own form, an NKEY (https://docs.nats.io, NKeys), in a file
// that may change while the process runs. The server knows the public half and what that identity may do
// (events/broker-rights.ts); the seed never leaves the process.
import { nkeys } from "nats";
import { LiveFile } from "./live-file.ts";

export interface OwnNkey {
  /** Of the newest good content of the file; read again for each connection. */
  readonly seed: Uint8Array;
}

/** A pair, in NATS' own texts: `SU…` is secret, `U…` is what the server is told. */
export interface NkeyPair {
  readonly seed: string;
  readonly publicKey: string;
}

/** A file with the seed of a user's NKEY in its first line. */
export const nkeyFile = {
  parse: (path: string): OwnNkey => {
    const file = new LiveFile(path, seedOf);
    return {
      get seed() {
        // The client wipes what it was given.
        return new TextEncoder().encode(file.value);
      },
    };
  },
};

/** A new identity. */
export function newNkey(): NkeyPair {
  const pair = nkeys.createUser();
  return { seed: new TextDecoder().decode(pair.getSeed()), publicKey: pair.getPublicKey() };
}

/** @throws Error for anything but a user's seed. */
export function publicNkeyOf(seed: string): string {
  return nkeys.fromSeed(new TextEncoder().encode(seedOf(seed))).getPublicKey();
}

function seedOf(text: string): string {
  const [line = ""] = text.split("\n");
  const seed = line.trim();
  try {
    nkeys.fromSeed(new TextEncoder().encode(seed)); // checks its sum; which kind it is its second letter says
    if (seed.startsWith("SU")) return seed;
  } catch {
    // What was wrong with it may tell something of it.
  }
  throw new Error("must begin with the seed of a user's NKEY (SU…, nk -gen user)");
}
