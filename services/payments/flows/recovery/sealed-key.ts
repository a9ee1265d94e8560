// The idempotency key of a request that moves money, sealed so that it can travel with the event that asks for it:
// should this database be lost, the key stands for the same refund, capture or cancellation again. It opens for its own
// object alone.
import type { IdempotencyScope } from "#platform/database/idempotency.ts";
import type { Vault } from "#platform/secrets/vault.ts";

type SealedKey = Pick<IdempotencyScope, "key" | "fingerprint">;

/** The attribute `image` of the event. */
export function sealKey(vault: Vault, objectId: string, { key, fingerprint }: SealedKey): string {
  const plain = Buffer.concat([Buffer.of(fingerprint.length), fingerprint, Buffer.from(key)]);
  return vault.encrypt(plain, contextOf(objectId)).toString("base64");
}

/** @throws when it is of another object, was changed, or its encryption key is gone */
export function openKey(vault: Vault, objectId: string, sealed: string): SealedKey {
  const plain = vault.decrypt(Buffer.from(sealed, "base64"), contextOf(objectId));
  const keyAt = 1 + (plain[0] ?? 0);
  return { fingerprint: plain.subarray(1, keyAt), key: plain.toString("utf8", keyAt) };
}

function contextOf(objectId: string): string {
  return `refund-key:${objectId}`; // the name of its first use, under which keys of earlier releases are sealed
}
