// A process's identity at the broker: an Ed25519 key as an NKEY (https://docs.nats.io, NKeys) in a file that may change
// at runtime. The server knows the public half and its permissions (deploy/cli/setup/broker-rights.ts); the seed stays
// in the process.
import { nkeys } from "#platform/values/nats.ts";
import { LiveFile } from "./live-file.ts";

export interface OwnNkey {
  /** The file's newest valid content; read for each connection. */
  readonly seed: Uint8Array;
}

/** A file with the seed of a user's NKEY in its first line. */
export const nkeyFile = {
  parse: (path: string): OwnNkey => {
    const file = new LiveFile(path, seedOf);
    return {
      get seed() {
        // The client overwrites the bytes it gets.
        return new TextEncoder().encode(file.value);
      },
    };
  },
};

/** @throws Error for anything but a user's seed */
export function seedOf(text: string): string {
  const [line = ""] = text.split("\n");
  const seed = line.trim();
  try {
    nkeys.fromSeed(new TextEncoder().encode(seed)); // checks the checksum; the second letter is the kind
    if (seed.startsWith("SU")) return seed;
  } catch {
    // The error could reveal part of the seed.
  }
  throw new Error("must begin with the seed of a user's NKEY (SU…, nk -gen user)");
}
