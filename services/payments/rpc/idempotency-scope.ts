// Converts a request's idempotency key to the platform's scope.
import type { IdempotencyScope } from "#platform/database/idempotency.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Idempotency } from "#proto/payments/v1/payments_pb.ts";

interface KeyedRequest {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly idempotency?: Idempotency | undefined;
}

/** @returns undefined: the request has no key */
export function scopeOf(
  operation: string,
  { merchantId, environment, idempotency }: KeyedRequest,
): IdempotencyScope | undefined {
  if (!idempotency) return undefined;
  return { merchantId, environment, operation, key: idempotency.key, fingerprint: idempotency.fingerprint };
}
