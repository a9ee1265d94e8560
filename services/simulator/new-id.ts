// Generates ids and secrets, and compares secrets. Ids begin with the time, which keeps index inserts local.
import { createHash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32
const timeLength = 9; // 45 bits of milliseconds: until the year 3084
const randomLength = 16; // 80 bits

/** `pi_0k3…`: the prefix and 25 characters. */
export function newId(prefix: string): string {
  let time = Date.now();
  let text = "";
  for (let i = 0; i < timeLength; i++) {
    text = alphabet.charAt(time % 32) + text;
    time = Math.floor(time / 32);
  }
  for (const byte of randomBytes(randomLength)) text += alphabet.charAt(byte % 32);
  return `${prefix}_${text}`;
}

/** 192 random bits, URL-safe. */
export function newSecret(): string {
  return randomBytes(24).toString("base64url");
}

/** Six digits, like an issuer's. */
export function newAuthorizationCode(): string {
  return String(randomInt(1_000_000)).padStart(6, "0");
}

export function sameSecret(expected: string, actual: string): boolean {
  return timingSafeEqual(digest(expected), digest(actual));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
