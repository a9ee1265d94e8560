// The two signatures of a delivery (docs/contract.md §9). `Service-Signature` is HMAC-SHA256 over `t.body`, keyed by
// the literal signing secret, prefix included. `webhook-signature` follows Standard Webhooks and is keyed by the
// random bytes that the secret encodes, so one stored secret serves both.
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/** A secret's key for each of the signatures. */
export interface SigningKeys {
  readonly literal: KeyObject;
  readonly standard: KeyObject;
}

// Creating a key for each signature would cost six times the signature.
export function signingKeys(secret: Buffer): SigningKeys {
  return { literal: createSecretKey(secret), standard: createSecretKey(randomBytesOf(secret.toString())) };
}

/** The secret in the form that Standard Webhooks libraries read: `whsec_` and base64 with padding. */
export function standardSecret(signingSecret: string): string {
  return `${prefix}${randomBytesOf(signingSecret).toString("base64")}`;
}

const prefix = "whsec_";

/** The bytes that the text of a signing secret encodes in base64url (docs/contract.md §3). */
function randomBytesOf(signingSecret: string): Buffer {
  return Buffer.from(signingSecret.slice(prefix.length), "base64url");
}

/**
 * The value of `Service-Signature`: `t=<unix seconds>,v1=<hex>`, with one `v1=` per secret that signs.
 * @param secrets the current one first
 */
export function signatureHeader(secrets: readonly SigningKeys[], atSeconds: number, body: Uint8Array): string {
  const values = secrets.map(
    ({ literal }) => `v1=${createHmac("sha256", literal).update(`${atSeconds}.`).update(body).digest("hex")}`,
  );
  return `t=${atSeconds},${values.join(",")}`;
}

/** The headers of Standard Webhooks: `webhook-signature` is `v1,<base64>` per signing secret, with blanks between. */
export function standardHeaders(
  secrets: readonly SigningKeys[],
  deliveryId: string,
  atSeconds: number,
  body: Uint8Array,
): Record<string, string> {
  const signed = `${deliveryId}.${atSeconds}.`;
  const values = secrets.map(
    ({ standard }) => `v1,${createHmac("sha256", standard).update(signed).update(body).digest("base64")}`,
  );
  return {
    "webhook-id": deliveryId,
    "webhook-timestamp": String(atSeconds),
    "webhook-signature": values.join(" "),
  };
}
