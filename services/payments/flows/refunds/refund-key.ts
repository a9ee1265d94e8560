// The idempotency key of a refund, sealed so that it can travel with the event that asks for it: should this database
// be lost, the key stands for the same refund again. It opens for its own refund alone.
import type { IdempotencyScope } from "#platform/database/idempotency.ts";
import type { Vault } from "#platform/secrets/vault.ts";

type SealedKey = Pick<IdempotencyScope, "key" | "fingerprint">;

/** The attribute `image` of `refund.requested`. */
export function sealRefundKey(vault: Vault, refundId: string, { key, fingerprint }: SealedKey): string {
  const plain = Buffer.concat([Buffer.of(fingerprint.length), fingerprint, Buffer.from(key)]);
  return vault.encrypt(plain, refundContext(refundId)).toString("base64");
}

/** @throws when it is of another refund, was changed, or its encryption key is gone */
export function openRefundKey(vault: Vault, refundId: string, sealed: string): SealedKey {
  const plain = vault.decrypt(Buffer.from(sealed, "base64"), refundContext(refundId));
  const keyAt = 1 + (plain[0] ?? 0);
  return { fingerprint: plain.subarray(1, keyAt), key: plain.toString("utf8", keyAt) };
}

function refundContext(refundId: string): string {
  return `refund-key:${refundId}`;
}
