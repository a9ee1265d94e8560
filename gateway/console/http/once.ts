// What makes a form move money once, however often it is sent: a key that is made with the page and travels in the
// form. A key of the object as the page showed it is the same in every tab: of two tabs one is taken, and the other is
// answered with the same.
import { createHash, randomBytes } from "node:crypto";
import type { Form } from "./form.ts";

/** The name of its field. */
export const onceField = "once";

/** As payments.v1 and checkout.v1 take it. */
export interface Once {
  readonly key: string;
  readonly fingerprint: Uint8Array;
}

// So that no key of a merchant's own backend is met by chance.
const prefix = "console:";
const maxLength = 255;

/** A key of what the page showed. @param seen for example a payment's id and its number of refunds */
export function onceKey(...seen: readonly (string | number)[]): string {
  return prefix + seen.join(":");
}

/** Another key for the same: what was refused for good under the first is asked for anew. */
export function freshKey(...seen: readonly (string | number)[]): string {
  return onceKey(...seen, randomBytes(9).toString("base64url"));
}

/**
 * The key that a form came with.
 * @param of what it must be about; any other is replaced. @param parameters the whole input: one key, one input
 */
export function onceOf(form: Form, of: readonly string[], parameters: readonly unknown[]): Once {
  const sentKey = form.raw(onceField);
  const begin = `${onceKey(...of)}:`;
  const isOurs = sentKey.startsWith(begin) && sentKey.length <= maxLength && /^[\w:-]+$/.test(sentKey);
  const key = isOurs ? sentKey : freshKey(...of);
  const content = JSON.stringify([...of, ...parameters], (_, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return { key, fingerprint: createHash("sha256").update(content).digest() };
}
