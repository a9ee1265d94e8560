// Compares secrets in a time that tells nothing about them, their length included.
import { createHash, timingSafeEqual } from "node:crypto";

export function sameSecret(expected: string, actual: string): boolean {
  return timingSafeEqual(digest(expected), digest(actual));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
