// API keys (docs/contract.md §3 and §7): the text of a key, its checksum, what a key's times say about its status, and
// what a key may give to another one. Pure.
import { crc32 } from "node:zlib";
import { isLimitedBy } from "./allowed-ips.ts";

export type KeyPrefix = "sk_test_" | "sk_live_";
export type KeyStatus = "active" | "expired" | "revoked";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretLength = 40;
const checksumLength = 6; // 62^6 > 2^32: room for every CRC-32
const keyFormat = /^sk_(?:test|live)_[0-9A-Za-z]{46}$/;

/**
 * Bytes of entropy that `keyText` takes: 146 bits more than 40 base62 characters hold, so that no character is
 * favoured.
 */
export const keyEntropyBytes = 48;

/** The raw key: prefix, 40 base62 characters made of the entropy, and the checksum of all before it. */
export function keyText(prefix: KeyPrefix, entropy: Uint8Array): string {
  if (entropy.length !== keyEntropyBytes) throw new RangeError(`a key is made of ${keyEntropyBytes} bytes`);
  const body = prefix + inBase62(BigInt(`0x${Buffer.from(entropy).toString("hex")}`), secretLength);
  return body + checksum(body);
}

/** True when the text has the form of a key and its checksum fits, so that junk is refused without a look-up. */
export function isKeyText(text: string): boolean {
  return keyFormat.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** What is shown of a key for ever: its last four characters, all of the checksum. */
export function keySuffix(text: string): string {
  return text.slice(-4);
}

export interface KeyTimes {
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** The status at a time; revocation wins over expiry. */
export function keyStatus(key: KeyTimes, now: Date): KeyStatus {
  if (key.revokedAt) return "revoked";
  return key.expiresAt && key.expiresAt <= now ? "expired" : "active";
}

/**
 * Active keys of a merchant in one environment (docs/contract.md §7): more than anyone can tell apart, few enough to
 * show at once.
 */
export const activeKeysMax = 50;

/**
 * Keys made within so long that are no longer somebody's daily work: whoever has stolen one makes more, to keep a way
 * in.
 */
export const burstKeys = 10;
export const burstMs = 600_000;

/** True for the one key that makes it a burst. @param made within the time, the key itself counted */
export function beginsBurst(made: number): boolean {
  return made === burstKeys;
}

/** What a key can do, from where, and until when. */
export interface KeyPower {
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
  /** Ranges of addresses (rules/allowed-ips.ts); none: everywhere. */
  readonly allowedIps: readonly string[];
}

/**
 * True when a key may make one like this: itself active, it has every scope of it, is used wherever it is, and does not
 * end before it.
 */
export function mayGive(giver: KeyPower & KeyTimes, power: KeyPower, now: Date): boolean {
  if (keyStatus(giver, now) !== "active") return false;
  if (!power.scopes.every((scope) => giver.scopes.includes(scope))) return false;
  if (!isLimitedBy(power.allowedIps, giver.allowedIps)) return false;
  return giver.expiresAt === null || (power.expiresAt !== null && power.expiresAt <= giver.expiresAt);
}

/**
 * True when a key may limit another one, or itself, to these addresses: within its own ones in any case. Narrowing a
 * stronger key is less than revoking it; letting it be used from more addresses is giving it out there, and so needs
 * all that it has.
 */
export function mayLimit(giver: KeyPower & KeyTimes, key: KeyPower, allowedIps: readonly string[], now: Date): boolean {
  if (keyStatus(giver, now) !== "active" || !isLimitedBy(allowedIps, giver.allowedIps)) return false;
  return isLimitedBy(allowedIps, key.allowedIps) || mayGive(giver, { ...key, allowedIps }, now);
}

/** When a rolled key stops: after the overlap, but never later than it would have stopped anyway. */
export function expiryAfterRoll(key: KeyTimes, overlapSeconds: number, now: Date): Date {
  const end = new Date(now.getTime() + overlapSeconds * 1_000);
  return key.expiresAt && key.expiresAt < end ? key.expiresAt : end;
}

/** CRC-32 of the key up to there: finds typing errors and made-up keys; it proves nothing about a key's validity. */
function checksum(body: string): string {
  return inBase62(BigInt(crc32(body)), checksumLength);
}

/** The lowest `length` digits in base 62. */
function inBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value, i = 0; i < length; i++, rest /= 62n) text = base62[Number(rest % 62n)] + text;
  return text;
}
