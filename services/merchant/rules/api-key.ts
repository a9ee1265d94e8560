// API keys (docs/contract.md §3 and §7): text and checksum, status, and the rights that a key may grant to another key.
import { crc32 } from "node:zlib";
import { isLimitedBy } from "./allowed-ips.ts";

type KeyPrefix = "sk_test_" | "sk_live_";
type KeyStatus = "active" | "expired" | "revoked";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretLength = 40;
const checksumLength = 6; // 62^6 > 2^32: room for every CRC-32
const keyFormat = /^sk_(?:test|live)_[0-9A-Za-z]{46}$/;

/** Input of `keyText`: 146 bits more than 40 base62 characters hold, so that their distribution is uniform. */
export const keyEntropyBytes = 48;

/** The raw key: prefix, 40 base62 characters of entropy, and a checksum of both. */
export function keyText(prefix: KeyPrefix, entropy: Uint8Array): string {
  if (entropy.length !== keyEntropyBytes) throw new RangeError(`a key is made of ${keyEntropyBytes} bytes`);
  const body = prefix + inBase62(BigInt(`0x${Buffer.from(entropy).toString("hex")}`), secretLength);
  return body + checksum(body);
}

/** Checks form and checksum, so random text is refused without a lookup. */
export function isKeyText(text: string): boolean {
  return keyFormat.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** The visible part of a key: its last four characters, which belong to the checksum. */
export function keySuffix(text: string): string {
  return text.slice(-4);
}

interface KeyTimes {
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Revocation takes precedence over expiry. */
export function keyStatus(key: KeyTimes, now: Date): KeyStatus {
  if (key.revokedAt) return "revoked";
  return key.expiresAt && key.expiresAt <= now ? "expired" : "active";
}

/** Limit per merchant and environment (docs/contract.md §7). */
export const activeKeysMax = 50;

/** This many new keys within `burstMs` are suspicious: a thief of one key creates more to keep access. */
export const burstKeys = 10;
export const burstMs = 600_000;

/** @param made keys within `burstMs`, including the new one */
export function beginsBurst(made: number): boolean {
  return made === burstKeys;
}

export interface KeyPower {
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
  /** An empty list allows every address. */
  readonly allowedIps: readonly string[];
}

/** Whether a key may grant these rights: it must be active, and they may not exceed its own. */
export function mayGive(giver: KeyPower & KeyTimes, power: KeyPower, now: Date): boolean {
  if (keyStatus(giver, now) !== "active") return false;
  if (!power.scopes.every((scope) => giver.scopes.includes(scope))) return false;
  if (!isLimitedBy(power.allowedIps, giver.allowedIps)) return false;
  return giver.expiresAt === null || (power.expiresAt !== null && power.expiresAt <= giver.expiresAt);
}

/**
 * Whether a key may limit another key, or itself, to these addresses, which must be within its own. Narrowing a
 * stronger key is allowed, as revoking it is. Widening a key grants its rights to more addresses, so it needs all these
 * rights.
 */
export function mayLimit(giver: KeyPower & KeyTimes, key: KeyPower, allowedIps: readonly string[], now: Date): boolean {
  if (keyStatus(giver, now) !== "active" || !isLimitedBy(allowedIps, giver.allowedIps)) return false;
  return isLimitedBy(allowedIps, key.allowedIps) || mayGive(giver, { ...key, allowedIps }, now);
}

/** A rolled key expires after the overlap, but never later than before. */
export function expiryAfterRoll(key: KeyTimes, overlapSeconds: number, now: Date): Date {
  const end = new Date(now.getTime() + overlapSeconds * 1_000);
  return key.expiresAt && key.expiresAt < end ? key.expiresAt : end;
}

/** CRC-32 against typing errors and random text; it does not prove that a key exists. */
function checksum(body: string): string {
  return inBase62(BigInt(crc32(body)), checksumLength);
}

/** The lowest `length` digits in base 62. */
function inBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value, i = 0; i < length; i++, rest /= 62n) text = base62[Number(rest % 62n)] + text;
  return text;
}
