// Compares secrets in constant time, independent of their length.
import { createHash, timingSafeEqual } from "node:crypto";

export function sameSecret(expected: string, actual: string): boolean {
  return timingSafeEqual(digest(expected), digest(actual));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
