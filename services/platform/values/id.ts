// Object ids: a noun's prefix and a ULID of 26 lower-case Crockford base32 characters (docs/contract.md §3). Ids of one
// process strictly ascend, so neighbours can be guessed. An id's time is at most a second ahead of the database's.
import { randomBytes, randomUUID } from "node:crypto";
import { clockMs } from "./clock.ts";

/** Prefix of each noun (docs/contract.md §3). Nouns that the contract does not list are internal. */
export const prefixes = {
  session: "cs",
  paymentLink: "pl",
  payment: "pay",
  refund: "re",
  dispute: "dp",
  evidence: "ev",
  file: "file",
  connector: "mco",
  endpoint: "whk",
  delivery: "whd",
  apiKey: "ak",
  merchant: "mer",
  application: "ma",
  event: "evt",
  note: "note",
  operation: "op",
  suspense: "su",
  movement: "txn",
  payout: "po",
  report: "rpt",
  erasure: "era",
  entry: "je",
  adjustment: "adj",
  request: "req",
  riskRule: "rr",
  person: "usr",
  invitation: "inv",
  passkey: "pk",
  consoleSession: "ses",
  signInLink: "sil",
  mail: "mail",
} as const;

export type Noun = keyof typeof prefixes;
export type Id<N extends Noun> = `${(typeof prefixes)[N]}_${string}`;

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const suffix = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

// An id further ahead would give a wrong creation time: the clock has stepped back, and ids follow it.
const aheadMsMax = 1_000;
const last = { ms: 0, random: 0n };
let rebases = 0;
const randomBits = 80;

/** Nouns whose id alone grants access. */
type SecretNoun = "application" | "paymentLink";

/** A new id of the noun. It is not a secret. */
export function newId<N extends Exclude<Noun, SecretNoun>>(noun: N, nowMs: number = clockMs()): Id<N> {
  return `${prefixes[noun]}_${ulid(nowMs)}`;
}

/** A new id that cannot be guessed from another one: 80 random bits, ascending by millisecond only. */
export function newSecretId<N extends SecretNoun>(noun: N, nowMs: number = clockMs()): Id<N> {
  return `${prefixes[noun]}_${ulidText(nowMs, BigInt(`0x${randomBytes(10).toString("hex")}`))}`;
}

/** How often this process's ids went back because the clock had been ahead. */
export const idRebases = (): number => rebases;

/** True for a well-formed id of the noun, whether or not the object exists. */
export function isId<N extends Noun>(noun: N, value: string): value is Id<N> {
  const prefix = `${prefixes[noun]}_`;
  return value.startsWith(prefix) && suffix.test(value.slice(prefix.length));
}

export const idSuffix = (id: string): string => id.slice(id.lastIndexOf("_") + 1);

/** Creation time of a well-formed id in milliseconds since 1970, from the ULID's first ten characters. */
export function idTimeMs(id: string): number {
  let ms = 0;
  for (const character of idSuffix(id).slice(0, 10)) ms = ms * 32 + alphabet.indexOf(character);
  return ms;
}

/** The lowest possible id of the noun at this time. */
export function idFloor<N extends Noun>(noun: N, ms: number): Id<N> {
  let text = "";
  for (let rest = Math.max(ms, 0), i = 0; i < 10; i++, rest = Math.floor(rest / 32)) text = alphabet[rest % 32] + text;
  return `${prefixes[noun]}_${text}${"0".repeat(16)}`;
}

function ulid(nowMs: number): string {
  const isRebased = last.ms - nowMs > aheadMsMax;
  if (isRebased && last.ms > 0) rebases += 1;
  if (nowMs > last.ms || isRebased) {
    last.ms = nowMs;
    // The top bit stays free: counting up within a millisecond cannot overflow.
    last.random = BigInt.asUintN(randomBits - 1, BigInt(`0x${randomHex(10)}`));
  } else {
    last.random += 1n;
  }
  return ulidText(last.ms, last.random);
}

function ulidText(ms: number, random: bigint): string {
  let bits = (BigInt(ms) << BigInt(randomBits)) | random;
  let text = "";
  for (let i = 0; i < 26; i++) {
    text = alphabet[Number(bits & 31n)] + text;
    bits >>= 5n;
  }
  return text;
}

/**
 * Random hexadecimal digits; six bits are a UUID's and fixed. Node keeps UUIDs ready, and asking for bytes costs a
 * hundred times as much. For names only; secrets use secrets/vault.ts.
 * @param bytes at most 16
 */
export function randomHex(bytes: number): string {
  return randomUUID()
    .split("-")
    .join("")
    .slice(0, 2 * bytes);
}
