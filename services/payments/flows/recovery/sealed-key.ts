// The idempotency key of a refund, capture or cancellation, sealed in the event that requests it. After a database loss
// the key is restored from there, so a repeat of the request is answered by the same object.
import type { Database } from "#platform/database/database.ts";
import type { IdempotencyKeys, IdempotencyScope } from "#platform/database/idempotency.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { isId } from "#platform/values/id.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";

/** The attribute `image` of the event. */
export function sealKey(
  vault: Vault,
  objectId: string,
  { key, fingerprint }: Pick<IdempotencyScope, "key" | "fingerprint">,
): string {
  const plain = Buffer.concat([Buffer.of(fingerprint.length), fingerprint, Buffer.from(key)]);
  return vault.encrypt(plain, contextOf(objectId)).toString("base64");
}

const operations = new Map([
  ["refund.requested", "refund_payment"],
  ["operation.capture_requested", "capture_payment"],
  ["operation.cancel_requested", "cancel_payment"],
]);

/** The payment that the event asks to capture or cancel; undefined: it asks for something else. */
export function endedPayment({ type, attributes }: Event) {
  const { payment_id: id = "" } = attributes;
  return operations.has(type) && type !== "refund.requested" && isId("payment", id) ? id : undefined;
}

interface RestoreDeps {
  readonly db: Database;
  readonly vault: Vault;
  readonly keys: Pick<IdempotencyKeys, "restore">;
}

/** Restores the key of a capture or cancellation; the payment's rebuild has applied its result. */
export async function restoreEndingKey(deps: RestoreDeps & { readonly log: Log }, event: Event): Promise<void> {
  if (!endedPayment(event)) return;
  try {
    await restoreKey(deps, event);
  } catch (error) {
    const fields = { err: error, operation_id: event.objectId };
    deps.log.warn(fields, "the key of a capture or a cancellation could not be restored");
  }
}

/**
 * Restores the key of the event's object. @returns true if it was lost
 * @throws Error: the image is of another object, was changed, or its encryption key is gone
 */
export async function restoreKey(
  deps: RestoreDeps,
  { type, objectId, merchantId, environment, attributes }: Event,
): Promise<boolean> {
  const operation = operations.get(type);
  if (operation === undefined || !attributes.image) return false;
  const plain = deps.vault.decrypt(Buffer.from(attributes.image, "base64"), contextOf(objectId));
  const keyAt = 1 + (plain[0] ?? 0);
  const sealed = { fingerprint: plain.subarray(1, keyAt), key: plain.toString("utf8", keyAt) };
  return await deps.keys.restore(deps.db, { merchantId, environment, operation, ...sealed }, objectId);
}

function contextOf(objectId: string): string {
  return `refund-key:${objectId}`; // the name of its first use, under which earlier releases sealed keys
}
