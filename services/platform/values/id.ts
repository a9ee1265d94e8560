// Object ids: a noun's prefix and 26 lower-case Crockford base32 characters of a ULID, so that ids sort by creation
// (docs/contract.md §3). Ids of one process are strictly ascending, also within a millisecond, so that who has one
// knows its neighbours; their time never runs ahead of the database's clock by more than a second.
import { randomBytes } from "node:crypto";
import { clockMs } from "./clock.ts";

/** Prefix of each noun (docs/contract.md §3); the rest are ours. */
export const prefixes = {
  session: "cs",
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
  operation: "op",
  suspense: "su",
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

// Further ahead than this an id would lie about its object's time; the clock has stepped back, and ids follow it.
const aheadMsMax = 1_000;
const last = { ms: 0, random: 0n };
let rebases = 0;
const randomBits = 80n;
const randomMask = (1n << randomBits) - 1n;

/** Nouns whose id alone opens the object. */
type SecretNoun = "application";

/** A new id of the noun, which is no secret. */
export function newId<N extends Exclude<Noun, SecretNoun>>(noun: N, nowMs: number = clockMs()): Id<N> {
  return `${prefixes[noun]}_${ulid(nowMs)}`;
}

/** A new id that nobody guesses from another one: 80 random bits of its own, ascending by the millisecond alone. */
export function newSecretId<N extends SecretNoun>(noun: N, nowMs: number = clockMs()): Id<N> {
  return `${prefixes[noun]}_${ulidText(nowMs, BigInt(`0x${randomHex(10)}`))}`;
}

/** Times that the ids of this process went back, since its clock had been ahead. */
export function idRebases(): number {
  return rebases;
}

/** True when the text is a well-formed id of the noun; says nothing about whether the object exists. */
export function isId<N extends Noun>(noun: N, value: string): value is Id<N> {
  const prefix = `${prefixes[noun]}_`;
  return value.startsWith(prefix) && suffix.test(value.slice(prefix.length));
}

/** The 26 characters after the prefix. */
export function idSuffix(id: string): string {
  return id.slice(id.lastIndexOf("_") + 1);
}

/**
 * When the object of a well-formed id was made, milliseconds since 1970: the first ten characters are a ULID's time.
 */
export function idTimeMs(id: string): number {
  let ms = 0;
  for (const character of idSuffix(id).slice(0, 10)) ms = ms * 32 + alphabet.indexOf(character);
  return ms;
}

/** The least id of the noun that can have been made at this time. */
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
    // The top bit stays free, so that counting up within a millisecond cannot overflow.
    last.random = BigInt(`0x${randomHex(10)}`) & (randomMask >> 1n);
  } else {
    last.random += 1n;
  }
  return ulidText(last.ms, last.random);
}

function ulidText(ms: number, random: bigint): string {
  let bits = (BigInt(ms) << randomBits) | random;
  let text = "";
  for (let i = 0; i < 26; i++) {
    text = alphabet[Number(bits & 31n)] + text;
    bits >>= 5n;
  }
  return text;
}

const blockBytes = 2_048;
let block = Buffer.alloc(0);
let used = 0;

/**
 * So many random bytes in hexadecimal, each given once, from a block: asking the system for eight costs as much as for
 * a thousand. For names; for what must be secret the system is asked each time (secrets/vault.ts).
 * @param bytes at most 64
 */
export function randomHex(bytes: number): string {
  if (used + bytes > block.length) {
    block = randomBytes(blockBytes);
    used = 0;
  }
  used += bytes;
  return block.toString("hex", used - bytes, used);
}
