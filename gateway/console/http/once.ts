// Idempotency keys of forms. A form that is sent several times moves money once. A key names the state of the object
// that the page showed, so two tabs share it and get the same result.
import { createHash, randomBytes } from "node:crypto";
import type { Form } from "./form.ts";

export const onceField = "once";

/** An idempotency key of payments.v1 and checkout.v1. */
interface IdempotencyKey {
  readonly key: string;
  readonly fingerprint: Uint8Array;
}

// Keeps the consoles' keys apart from those of a merchant's backend.
const prefix = "console:";
const maxLength = 255;

/** @param seen for example a payment's id and its number of refunds */
export function onceKey(...seen: readonly (string | number)[]): string {
  return prefix + seen.join(":");
}

/** A new key for the same object, after the service refused the first one for good. */
export function freshKey(...seen: readonly (string | number)[]): string {
  return onceKey(...seen, randomBytes(9).toString("base64url"));
}

/**
 * The form's key.
 * @param of act and object; a key of anything else is replaced
 * @param parameters the whole input, which the key is bound to
 */
export function onceOf(form: Form, of: readonly string[], parameters: readonly unknown[]): IdempotencyKey {
  const sentKey = form.raw(onceField);
  const isOurs = sentKey.startsWith(`${onceKey(...of)}:`) && sentKey.length <= maxLength && /^[\w:-]+$/.test(sentKey);
  const content = JSON.stringify([...of, ...parameters], (_, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return { key: isOurs ? sentKey : freshKey(...of), fingerprint: createHash("sha256").update(content).digest() };
}
