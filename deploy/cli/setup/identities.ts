// Identities of processes: lines that accept their tokens, broker keys and event keys (platform/secrets).
import { type CallerName, callerLine, callerNames } from "#platform/secrets/callers.ts";
import { seedOf } from "#platform/secrets/nkey.ts";
import { nkeys } from "#platform/values/nats.ts";
import type { Source } from "../../../services/services.ts";

/** NATS' text formats: the seed `SU…` is secret, the server gets `U…`. */
interface NkeyPair {
  readonly seed: string;
  readonly publicKey: string;
}

export function newNkey(): NkeyPair {
  const pair = nkeys.createUser();
  return { seed: new TextDecoder().decode(pair.getSeed()), publicKey: pair.getPublicKey() };
}

/** @throws Error for anything but a user's seed */
export function publicNkeyOf(seed: string): string {
  return nkeys.fromSeed(new TextEncoder().encode(seedOf(seed))).getPublicKey();
}

export function eventKeyLine(source: Source, key: Uint8Array): string {
  return `${source} base64:${Buffer.from(key).toString("base64")}`;
}

/**
 * Callers that each process's token represents. The operators' console passes on the people it acts for, as a console,
 * and has an operator's rights.
 */
export const tokenHolders: ReadonlyMap<string, readonly CallerName[]> = new Map<string, readonly CallerName[]>([
  ...callerNames.map((name) => [name, [name]] as const),
  ["operators-console", ["console", "operator"]],
]);

/** The lines of a callers file that accept the token of this process. */
export function holderLines(holder: string, token: string): readonly string[] {
  return (tokenHolders.get(holder) ?? []).map((name) => callerLine(name, token));
}
