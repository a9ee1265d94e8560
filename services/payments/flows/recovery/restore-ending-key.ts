// The idempotency key of a capture or a cancellation that a restored database lost stands for it again: a repeat is
// answered by what became of the payment. What the processor did of it, the payment's rebuild has taken in.
import type { IdempotencyKeys } from "#platform/database/idempotency.ts";
import { isId } from "#platform/values/id.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import type { RebuildDeps } from "./rebuild-payment.ts";
import { openKey } from "./sealed-key.ts";

export interface RestoreKeyDeps extends RebuildDeps {
  readonly keys: Pick<IdempotencyKeys, "restore">;
}

const operations = new Map([
  ["operation.capture_requested", "capture_payment"],
  ["operation.cancel_requested", "cancel_payment"],
]);

/** The payment that the event asks to capture or cancel; undefined: it asks for something else. */
export function endedPayment({ type, attributes }: Event) {
  const { payment_id: id = "" } = attributes;
  return operations.has(type) && isId("payment", id) ? id : undefined;
}

export async function restoreEndingKey(deps: RestoreKeyDeps, event: Event): Promise<void> {
  const { type, objectId, merchantId, environment, attributes } = event;
  const operation = operations.get(type);
  if (operation === undefined || !attributes.image) return;
  try {
    const scope = { merchantId, environment, operation, ...openKey(deps.vault, objectId, attributes.image) };
    await deps.keys.restore(deps.db, scope, objectId);
  } catch (error) {
    deps.log.warn(
      { err: error, operation_id: objectId },
      "the key of a capture or a cancellation could not be restored",
    );
  }
}
